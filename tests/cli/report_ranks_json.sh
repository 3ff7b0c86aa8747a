tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope report --format json data/ranks_slow_host
