tscope hang data/hang_no_dump
