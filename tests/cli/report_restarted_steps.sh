# A log to which a job that began again appended: the screen says that earlier records are left out.
mkdir -p run/rank0
head -n 5 data/run_healthy/rank0/steps.jsonl > run/rank0/steps.jsonl
cat data/run_healthy/rank0/steps.jsonl >> run/rank0/steps.jsonl
tscope report run
