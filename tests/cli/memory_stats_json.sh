tscope --version | grep -q '^libyaml [0-9]' || exit 77
tscope memory --format json data/rank_0_memory_stats.yaml
