tscope report --full --rule TIMING.DATALOADER_BOUND.threshold=0.01 data/run_healthy | grep -A3 DATALOADER
