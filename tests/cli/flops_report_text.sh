tscope report data/flops.json
