tscope diff --full --color always data/run_before data/run_after
