tscope memory --format json data/oom.pickle
