tscope trace --format json data/serving_prefill.json
