tscope memory --format json data/host_memory/leak.bin
