tscope diff --show phases data/serving_prefill.json data/serving_slower.json
