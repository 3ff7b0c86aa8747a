tscope trace --top 2 data/viztracer_torch.json
