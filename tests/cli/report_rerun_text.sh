tscope report --full data/run_rerun
