tscope trace data/viztracer.json
