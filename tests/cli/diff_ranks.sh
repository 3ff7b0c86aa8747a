tscope diff data/run_healthy data/run_sick
