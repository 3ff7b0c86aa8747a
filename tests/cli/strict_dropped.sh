tscope trace --strict --quiet data/chrome_phases.json
