tscope report --full data/run_mixed
