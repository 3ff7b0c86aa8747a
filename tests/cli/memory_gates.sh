# Of each file; rules, facts and severities alike. What a file cannot tell trips, too.
tscope memory --quiet --fail-on MEMORY.OOM --fail-on 'snapshot.inactive_split_ratio>0.6' data/oom.pickle
echo $?
tscope memory --quiet --fail-on 'snapshot.growth_bytes>1e8' --fail-on 'severity>=high' data/leak_b.pickle
echo $?
tscope memory --quiet --fail-on MEMORY.GROWTH --fail-on 'severity>=high' data/leak_a.pickle data/leak_b.pickle
echo $?
tscope memory --quiet --fail-on 'memory_tracker.peak_bytes>402653184' data/fsdp_mem_rank_0_training_step_1.log
echo $?
tscope memory --output report.txt --fail-on MEMORY.GROWTH data/leak_a.pickle data/leak_b.pickle
echo $?
