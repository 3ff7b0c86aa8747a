tscope report --full --quiet --fail-on 'overlap.exposed_comm_ratio>0.2' data/run_healthy
