tscope report --full data/run_memory/rank1/rank1_oom_snapshot.pickle
