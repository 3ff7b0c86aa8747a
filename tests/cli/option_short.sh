tscope trace -q data/two_steps.json
