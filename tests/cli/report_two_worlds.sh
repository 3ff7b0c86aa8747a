cp -r data/run_mixed run
sed 's/"world_size": 2/"world_size": 4/' data/run_mixed/rank1/trace.json >run/rank1/trace.json
tscope report --full run
