tscope diff --color always data/run_before data/run_after
