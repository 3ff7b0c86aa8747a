tscope trace --format json data/bare_array_cut.json
