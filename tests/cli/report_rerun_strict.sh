tscope report --strict --quiet data/run_rerun
