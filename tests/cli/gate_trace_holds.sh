tscope trace --quiet --fail-on 'step_time.mean_ms>320' --fail-on TIMING.DATALOADER_BOUND data/two_steps.json
