COLUMNS=500 tscope trace --full data/two_steps.json
