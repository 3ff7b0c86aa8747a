tscope memory --full data/leak_a.pickle data/leak_b.pickle
