tscope report --full --quiet --fail-on 'step_time.p95_ms>100' data/run_sick
