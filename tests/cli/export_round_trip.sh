tscope export --quiet data/run_mixed --out copy && ls copy copy/rank0 && tscope report --quiet copy && cat copy/rank0/steps.jsonl copy/rank0/run.json
