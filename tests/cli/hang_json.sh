tscope hang --format json data/hang_missing_call
