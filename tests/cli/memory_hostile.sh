tscope memory data/hostile_reduce.pickle
