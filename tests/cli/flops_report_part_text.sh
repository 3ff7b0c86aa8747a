tscope report --full data/flops_part.json
