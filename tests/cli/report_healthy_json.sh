tscope report --format json data/run_healthy
