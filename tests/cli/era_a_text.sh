tscope trace data/era_a.json
