tscope trace --full --top 1 data/run_memory/rank1/trace.json
