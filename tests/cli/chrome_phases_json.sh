tscope trace --format json data/chrome_phases.json
