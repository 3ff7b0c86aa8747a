# One screen: what changed, why, and how to see the rest.
tscope diff data/run_before data/run_after
tscope diff data/run_healthy data/run_sick
