tscope --version | grep -q '^libyaml [0-9]' || exit 77
tscope report --full --top 3 data/run_memory
