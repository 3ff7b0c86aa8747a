tscope report --full data/run_sick
