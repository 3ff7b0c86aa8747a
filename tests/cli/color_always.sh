tscope trace --color always data/two_steps.json
