tscope diff --quiet --fail-on 'mfu<0.05' --fail-on 'step_time.mean_ns>+5%' data/run_before data/run_after
