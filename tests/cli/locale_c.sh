LC_ALL=C tscope trace data/two_steps.json
