tscope report data/run_sick --fail-on 'mfu<0.9' --fail-on 'step_time.mean_ns>1s'
