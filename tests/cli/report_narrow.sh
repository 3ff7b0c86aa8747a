COLUMNS=48 tscope report data/run_sick
