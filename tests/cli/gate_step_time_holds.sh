tscope report --full --quiet --fail-on 'step_time.p95_ms>320' data/run_healthy
