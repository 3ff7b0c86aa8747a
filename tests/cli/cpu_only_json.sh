tscope trace --format json data/cpu_only.json
