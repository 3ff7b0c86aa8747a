tscope trace data/chrome_phases.json
