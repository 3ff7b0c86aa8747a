tscope trace --full data/flops.json
