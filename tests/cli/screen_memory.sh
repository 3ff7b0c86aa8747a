tscope memory data/oom.pickle data/host_memory/leak.bin
