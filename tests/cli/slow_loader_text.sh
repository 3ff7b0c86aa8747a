tscope trace --full data/slow_loader.json
