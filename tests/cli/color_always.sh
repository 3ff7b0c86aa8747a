tscope trace --full --color always data/two_steps.json
