tscope report --fail-on stragler data/run_healthy
