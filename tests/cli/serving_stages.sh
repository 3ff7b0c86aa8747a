tscope report --show inference data/serving_stages
