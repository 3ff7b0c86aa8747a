tscope report data/run_sick
