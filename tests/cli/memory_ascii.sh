LC_ALL=C tscope memory data/oom.pickle
