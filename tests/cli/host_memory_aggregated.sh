# Only sums: no totals, nothing of when.
tscope memory --full data/host_memory/aggregated.bin
tscope memory --format json --top 1 data/host_memory/aggregated.bin
