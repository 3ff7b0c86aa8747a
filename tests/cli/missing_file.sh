tscope trace missing.json
