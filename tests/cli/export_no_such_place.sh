: >file
tscope export data/run_healthy --out file/copy
