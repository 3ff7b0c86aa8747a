tscope trace --format json data/era_a.json
