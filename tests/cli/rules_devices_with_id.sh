tscope rules --devices TIMING.DATALOADER_BOUND
