tscope diff data/run_before data/run_after
