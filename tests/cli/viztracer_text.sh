tscope trace --full data/viztracer.json
