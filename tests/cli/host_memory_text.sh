tscope memory data/host_memory/leak.bin
