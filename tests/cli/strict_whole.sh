tscope trace --strict --quiet data/two_steps.json
