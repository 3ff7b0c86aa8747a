TMPDIR=nowhere tscope trace --memory-limit 8K data/run_before/trace.json
