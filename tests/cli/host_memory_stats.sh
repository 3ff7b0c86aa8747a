# What memray says itself, of the same job.
tscope memory --full data/host_memory/stats.bin.json
tscope memory --format json data/host_memory/stats.bin.json
