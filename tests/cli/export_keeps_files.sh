mkdir -p copy/rank0 && echo mine >copy/rank0/run.json && tscope export data/run_healthy --out copy; echo $?; cat copy/rank0/run.json; ls copy copy/rank0
