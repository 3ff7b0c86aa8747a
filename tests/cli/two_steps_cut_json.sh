tscope trace --format json data/two_steps_cut.json
