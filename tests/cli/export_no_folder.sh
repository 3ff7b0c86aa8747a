tscope export data/two_steps.json
