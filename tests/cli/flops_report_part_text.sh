tscope report data/flops_part.json
