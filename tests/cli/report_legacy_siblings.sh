cp -r data/run_healthy/rank0 job_rank0 && cp -r data/run_healthy/rank1 job_rank1 && tscope report --quiet job
