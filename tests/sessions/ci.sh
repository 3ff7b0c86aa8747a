# SPDX-License-Identifier: MIT
# A CI job: gates fail it, silence does not pass, a slip in a gate is found before anything is read.
. "$(dirname "$0")/answers.sh"

ask 0 "tscope report --quiet --fail-on 'step_time.p95_ms>320' data/run_healthy"
says 'step_time.p95_ms>320 .* held'
ask 1 "tscope report --quiet --fail-on 'mfu<35%' data/flops.json"
says 'mfu<35% +34\.0 % +(TRIPPED|unsure)'
ask 2 "tscope report --fail-on 'mfu<35' data/flops.json"
says 'did you mean 0\.35 or 35%\?'
ask 2 "tscope report --fail-on 'step_time.p95>320' data/run_healthy"
says 'did you mean'
# What the input cannot yield trips.
ask 1 "tscope report --quiet --fail-on 'overlap.exposed_comm_ratio>20%' data/run_healthy"
says 'TRIPPED|unsure'
ask 1 'tscope report --quiet --fail-on TIMING.DATALOADER_BOUND data/run_sick'
says 'TRIPPED'
ask 3 'tscope report --quiet no/such/run'
# A report in a file, and the gate on standard error.
ask 1 "tscope report --output report.txt --fail-on 'mfu<90%' data/flops.json"
says 'gate mfu<90%'
ask 0 'cat report.txt'
says 'GATES'
# Gates, and what good is, stand in the project's file, for whoever runs it.
if tscope --version | grep -q '^libyaml [0-9]'; then
	mkdir -p project/jobs
	printf 'report:\n  fail-on: mfu<90%%\ndiff:\n  baseline: ../data/run_before\n' >project/.tscope.yaml
	ask 1 'cd project/jobs && tscope report ../../data/flops.json'
	says 'mfu<90% .* TRIPPED'
	ask 0 'cd project/jobs && tscope report --no-config ../../data/flops.json'
	keeps_quiet_about 'mfu<90%'
	ask 1 "cd project/jobs && tscope diff --fail-on 'step_time.mean_ns>+5%' ../../data/run_after"
	says '^A +.*/data/run_before'
	says 'step_time.mean_ns>\+5% .* TRIPPED'
	ask 0 'cd project/jobs && tscope config report --top 3'
	says 'fail-on +mfu<90% +\.tscope\.yaml:2'
	says 'top +3 +command line'
	says 'undecided +fail +default'
	ask 2 "echo 'fail-onn: mfu<35%' >.tscope.yaml; tscope report data/flops.json"
	says 'tscope.yaml:1: unknown option fail-onn; did you mean fail-on\?'
	rm .tscope.yaml
fi
leave
