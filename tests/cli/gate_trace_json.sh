tscope trace --format json --fail-on 'mfu<0.35' --fail-on 'step_time.mean_ms>320' data/bare_array_cut.json
