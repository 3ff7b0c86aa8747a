tscope trace data/serving_prefill.json
tscope trace --show inference data/serving_prefill.json
