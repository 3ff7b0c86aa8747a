tscope trace --format json data/two_steps.json
