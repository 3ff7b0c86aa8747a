tscope tarce data/two_steps.json
