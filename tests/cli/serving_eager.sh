tscope trace --fail-on 'inference.decode.p99_ms>0.2' --fail-on 'inference.graph_hit_ratio<0.9' data/serving_eager.json
