tscope memory --full data/host_memory/leak.bin
