tscope trace --full data/cpu_only.json
