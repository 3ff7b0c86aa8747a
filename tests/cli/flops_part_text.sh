tscope trace --full data/flops_part.json
