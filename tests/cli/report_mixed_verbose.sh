tscope report --full --verbose --top 3 data/run_mixed
