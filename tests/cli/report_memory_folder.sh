tscope --version | grep -q '^libyaml [0-9]' && tscope --version | grep -q '^zlib [0-9]' || exit 77
mkdir run && cp data/rank_0_memory_stats.yaml data/memory_timeline.json.gz data/hostile_reduce.pickle run
printf -- '---\nlearning_rate: 0.1\n' >run/config.yaml
printf 'epoch 1\n' >run/train.log
head -c 3000 data/oom.pickle >run/cut.pickle
tscope report --full --verbose run
