tscope trace --show copies,Critical-Path data/two_steps.json
tscope trace --show kernel data/two_steps.json
