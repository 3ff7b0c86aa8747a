tscope report --full data/viztracer.json
