tscope export --quiet data/run_memory --out copy && ls copy/rank1 &&
	sed 's/"budget_ns".*}},//; s/"budget_ns".*},//' copy/rank1/steps.jsonl
tscope report --full --quiet --fail-on 'memory.peak_alloc_bytes>268435456' copy && cat copy/rank1/run.json
