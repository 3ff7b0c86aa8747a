tscope diff --full data/run_healthy data/run_sick
