tscope trace data/serving_dequantized.json
