tscope trace --top 1 data/two_steps.json
