tscope trace --full data/era_a.json
