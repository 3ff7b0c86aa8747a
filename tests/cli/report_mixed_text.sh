tscope report data/run_mixed
