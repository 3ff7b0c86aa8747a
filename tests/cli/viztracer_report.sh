tscope report data/viztracer.json
