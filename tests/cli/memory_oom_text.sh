tscope memory --full data/oom.pickle
