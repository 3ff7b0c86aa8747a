tscope report --format json data/run_rerun
