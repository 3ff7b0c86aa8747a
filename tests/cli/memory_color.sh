tscope memory --color always --top 2 data/oom.pickle
