tscope trace --full data/chrome_phases.json
