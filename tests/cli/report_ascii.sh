LC_ALL=C tscope report --full data/run_healthy
