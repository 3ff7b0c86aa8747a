tscope trace --show inference data/serving_graphs/replay.json
