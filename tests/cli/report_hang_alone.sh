tscope report data/hang_no_dump
