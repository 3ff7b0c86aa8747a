tscope report --color always data/run_healthy
