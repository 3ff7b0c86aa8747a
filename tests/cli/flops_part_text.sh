tscope trace data/flops_part.json
