tscope report --fail-on 'step_time.p95_ms>0.5' --fail-on TIMING.DATALOADER_BOUND --fail-on 'mfu<0.3' --show kernels --format markdown data/run_before
