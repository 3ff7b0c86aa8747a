tscope report --full data/flops.json
