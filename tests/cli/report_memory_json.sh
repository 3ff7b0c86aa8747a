tscope --version | grep -q '^libyaml [0-9]' || exit 77
tscope report --format json --top 1 data/run_memory
