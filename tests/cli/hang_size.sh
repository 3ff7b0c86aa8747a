tscope hang data/hang_size
