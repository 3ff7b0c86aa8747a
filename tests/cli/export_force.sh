mkdir -p copy/rank0 && echo old >copy/rank0/run.json
tscope export --force --quiet data/run_healthy --out copy && grep -o '"world_size":2' copy/rank0/run.json
