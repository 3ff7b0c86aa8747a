tscope report --full --quiet --fail-on straggler data/run_healthy
