tscope trace --full --quiet --fail-on 'step_time.mean_ms>320' --fail-on SYNC.BLOCKING data/two_steps.json
