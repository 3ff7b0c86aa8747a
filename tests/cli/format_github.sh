# Annotations; the job's summary is appended to.
echo 'written before' >summary.md
export GITHUB_STEP_SUMMARY=summary.md
tscope report --undecided pass --fail-on 'step_time.p95_ms>0.5' --fail-on 'mfu<0.3' --quiet --format github data/run_before
echo $?
head -n 8 summary.md
unset GITHUB_STEP_SUMMARY
tscope report --quiet --format github=annotations data/run_before
