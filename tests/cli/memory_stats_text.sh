tscope --version | grep -q '^libyaml [0-9]' || exit 77
tscope memory --full data/rank_0_memory_stats.yaml
