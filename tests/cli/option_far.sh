tscope trace --zzzzzz data/two_steps.json
