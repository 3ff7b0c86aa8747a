tscope hang data/hang_order
