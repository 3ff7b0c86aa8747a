tscope report --format json --top 2 data/run_mixed
