tscope trace --format json data/viztracer.json
