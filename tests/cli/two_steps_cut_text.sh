tscope trace --full data/two_steps_cut.json
