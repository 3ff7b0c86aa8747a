tscope diff --format json data/run_before data/run_after
