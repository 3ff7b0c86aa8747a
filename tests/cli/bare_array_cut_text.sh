tscope trace data/bare_array_cut.json
