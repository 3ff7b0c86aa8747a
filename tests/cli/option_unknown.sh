tscope trace --colour=never --tpo 3 data/two_steps.json
