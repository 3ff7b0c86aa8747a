tscope trace data/era_d.json
