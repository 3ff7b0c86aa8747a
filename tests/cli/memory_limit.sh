tscope trace --memory-limit 12K data/run_before/trace.json
