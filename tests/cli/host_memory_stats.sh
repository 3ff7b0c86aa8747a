# What memray says itself, of the same job.
tscope memory data/host_memory/stats.bin.json
tscope memory --format json data/host_memory/stats.bin.json
