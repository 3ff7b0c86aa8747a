tscope trace --steps 2: data/two_steps.json
