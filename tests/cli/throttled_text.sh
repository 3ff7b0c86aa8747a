tscope trace data/throttled.json
