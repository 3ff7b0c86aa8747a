tscope trace data/serving_bandwidth.json
