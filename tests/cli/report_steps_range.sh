tscope report --steps 3:5 --format json data/run_rerun | grep -E "\"(count|mean_ns)\"" | head -4
