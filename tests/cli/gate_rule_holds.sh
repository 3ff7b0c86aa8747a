tscope report --full --quiet --fail-on TIMING.DATALOADER_BOUND data/run_healthy
