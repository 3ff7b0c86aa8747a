tscope trace --format=json --top 1 data/cpu_only.json data/chrome_phases.json
