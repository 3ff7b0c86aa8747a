tscope --version | grep -q '^libyaml [0-9]' && tscope --version | grep -q '^zlib [0-9]' || exit 77
# A run against itself has no change, whatever it is.
for side in run_before run_sick run_mixed run_memory two_steps.json cpu_only.json oom.pickle \
	memory_timeline.json.gz rank_0_memory_stats.yaml fsdp_mem_rank_0_training_step_1.log; do
	tscope diff --fail-on new-finding data/$side data/$side
	echo $?
done
