tscope memory --quiet data/oom.pickle data/leak_a.pickle
