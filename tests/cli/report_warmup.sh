tscope report --quiet --warmup 2 --format json data/run_rerun | grep -E "\"(count|mean_ns)\"" | head -4
