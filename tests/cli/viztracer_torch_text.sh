tscope trace --full --top 2 data/viztracer_torch.json
