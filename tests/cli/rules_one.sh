tscope rules timing.dataloader_bound
tscope rules | grep '^TIMING.DATALOADER_BOUND '
