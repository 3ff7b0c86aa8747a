tscope trace data/cpu_only.json
