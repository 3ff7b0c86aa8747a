tscope report --full --color always data/run_healthy
