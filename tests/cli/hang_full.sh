tscope hang --full data/hang_order
