tscope --version | grep -q '^zlib [0-9]' || exit 77
# Facts of the run and of its ranks, and the end that readers ask for.
tscope report --fail-on 'mfu<35%' --format openmetrics data/ranks_slow_host | grep -E 'tscope_(mfu|finding|gate|step_time_mean|efficiency_mfu|distributed_slow)|EOF'
