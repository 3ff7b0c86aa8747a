tscope diff --full data/run_before data/run_after
