tscope trace --quiet=yes data/two_steps.json
