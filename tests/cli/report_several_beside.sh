# What lies beside several runs is of none of them; with --strict that decides the exit code.
mkdir runs
cp -r data/run_before data/run_after runs
cp data/run_before/steps.jsonl runs/rank7.jsonl
tscope report --quiet runs
tscope report --quiet --strict runs
