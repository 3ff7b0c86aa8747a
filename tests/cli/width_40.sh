COLUMNS=20 tscope trace --full data/two_steps.json
