LC_ALL=C tscope report data/run_healthy
