tscope trace --format json data/flops_part.json
