tscope trace --format json data/era_d.json
