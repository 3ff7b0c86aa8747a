# Gates and rules as test cases; the whole file.
tscope trace --fail-on 'mfu<35%' --fail-on 'step_time.p95_ms>320' --format junit data/slow_loader.json
