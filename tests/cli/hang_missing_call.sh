tscope hang data/hang_missing_call
