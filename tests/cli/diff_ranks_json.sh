tscope diff --format json data/run_healthy data/run_sick
