tscope trace data/two_steps_cut.json
