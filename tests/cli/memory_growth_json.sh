tscope memory --format json data/leak_a.pickle data/leak_b.pickle
