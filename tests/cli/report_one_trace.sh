tscope report data/two_steps.json.gz
