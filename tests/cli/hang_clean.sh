tscope hang data/hang_clean
