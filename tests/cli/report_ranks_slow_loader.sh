tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope report --full data/ranks_slow_loader
