tscope --version | grep -q '^libyaml [0-9]' || exit 77
tscope report --top 3 data/run_memory
