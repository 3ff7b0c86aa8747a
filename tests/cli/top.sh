tscope trace --full --top 1 data/two_steps.json
