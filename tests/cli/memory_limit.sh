tscope trace --full --memory-limit 11K data/run_before/trace.json
