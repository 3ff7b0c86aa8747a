tscope data/two_steps.json
