TMPDIR=nowhere tscope trace --full --memory-limit 11800 data/run_before/trace.json
