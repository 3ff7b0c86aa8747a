tscope trace --full data/two_steps.json
