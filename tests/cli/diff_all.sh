tscope diff --all --top 4 data/run_before data/run_after
