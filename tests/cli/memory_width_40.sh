COLUMNS=40 tscope memory data/oom.pickle
