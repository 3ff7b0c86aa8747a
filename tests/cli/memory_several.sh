tscope --version | grep -q '^libyaml [0-9]' || exit 77
# Of several documents in a file the first is read, and that is said.
for i in 1 2; do echo ---; cat data/rank_0_memory_stats.yaml; done >stats.yaml
cat data/oom.pickle data/oom.pickle >two.pickle
cat data/fsdp_mem_rank_0_training_step_1.log >all.log
sed 's/^Iteration 1/Iteration 2/' data/fsdp_mem_rank_0_training_step_1.log >>all.log
for file in stats.yaml two.pickle all.log; do
	tscope memory $file >/dev/null; echo $?
	tscope memory --strict $file >/dev/null; echo $?
done
