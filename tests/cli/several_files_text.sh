tscope trace --full data/cpu_only.json data/chrome_phases.json
