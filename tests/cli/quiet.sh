tscope trace --quiet data/two_steps_cut.json
