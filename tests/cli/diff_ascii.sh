LC_ALL=C tscope diff data/run_before data/run_after
