tscope report data/hang_missing_call data/ranks_slow_host
