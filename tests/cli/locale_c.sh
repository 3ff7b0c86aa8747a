LC_ALL=C tscope trace --full data/two_steps.json
