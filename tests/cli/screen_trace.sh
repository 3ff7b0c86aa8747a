tscope trace data/slow_loader.json
