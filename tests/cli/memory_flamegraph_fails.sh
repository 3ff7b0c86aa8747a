# What cannot be written leaves nothing; only one snapshot has stacks to write.
tscope memory --quiet --flamegraph no/such/folder.txt data/oom.pickle
echo $?
tscope memory --quiet --flamegraph /dev/full data/oom.pickle
echo $?
tscope memory --quiet --flamegraph kept.txt data/fsdp_mem_rank_0_training_step_1.log
echo $?
tscope memory --flamegraph kept.txt data/leak_a.pickle data/leak_b.pickle
echo $?
tscope memory --output same.txt --flamegraph same.txt data/oom.pickle
echo $?
ls -A
