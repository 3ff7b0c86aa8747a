tscope trace --full --steps 2: data/two_steps.json
