tscope memory data/oom.pickle
