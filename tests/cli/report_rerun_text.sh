tscope report data/run_rerun
