tscope report data/run_healthy
