COLUMNS=500 tscope trace data/two_steps.json
