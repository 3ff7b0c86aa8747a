tscope memory --quiet --rule MEMORY.OOM=low --rule MEMORY.INACTIVE_SPLIT=off --fail-on "severity>=med" data/oom.pickle
