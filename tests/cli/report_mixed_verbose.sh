tscope report --verbose --top 3 data/run_mixed
