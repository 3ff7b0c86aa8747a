tscope report --format json --fail-on 'mfu<0.35' --fail-on straggler --fail-on 'step_time.mean_ms>1' data/run_healthy
