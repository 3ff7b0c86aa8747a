tscope report --full data/run_healthy
