tscope trace data/two_steps.json --top
