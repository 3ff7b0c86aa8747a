# The first snapshot has none before it: its gate holds, where a later one could be evaluated.
tscope memory --quiet --fail-on MEMORY.GROWTH --fail-on 'snapshot.growth_bytes>1e9' data/leak_a.pickle data/leak_a.pickle
echo $?
tscope memory --format json --fail-on MEMORY.GROWTH data/leak_a.pickle data/leak_a.pickle | grep -A 6 '"gates"'
tscope memory --quiet --fail-on MEMORY.GROWTH data/leak_a.pickle
echo $?
tscope memory --quiet --fail-on MEMORY.GROWTH data/leak_a.pickle data/fsdp_mem_rank_0_training_step_1.log
echo $?
