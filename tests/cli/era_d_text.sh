tscope trace --full data/era_d.json
