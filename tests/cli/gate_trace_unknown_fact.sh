tscope trace --fail-on 'overlap.com_ms>3' data/two_steps.json
