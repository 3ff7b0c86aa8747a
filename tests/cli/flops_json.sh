tscope trace --format json data/flops.json
