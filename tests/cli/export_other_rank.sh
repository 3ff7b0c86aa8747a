# Records of another rank are kept, also with --force; those of the same are replaced.
tscope export --quiet data/run_healthy/rank0 --out one && cp one/steps.jsonl before
tscope export --force data/run_healthy/rank1 --out one; echo $?
cmp before one/steps.jsonl
tscope export --quiet --force data/run_healthy/rank0 --out one && cmp before one/steps.jsonl; echo $?
