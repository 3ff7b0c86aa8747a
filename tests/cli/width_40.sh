COLUMNS=20 tscope trace data/two_steps.json
