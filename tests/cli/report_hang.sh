tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope report data/hang_missing_call data/ranks_slow_host
