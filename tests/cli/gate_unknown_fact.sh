tscope report --fail-on 'step_time.p59_ms>320' data/run_healthy
