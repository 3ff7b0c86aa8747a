COLUMNS=48 tscope report --full data/run_sick
