tscope trace data/flops.json
