tscope trace --full data/bare_array_cut.json
