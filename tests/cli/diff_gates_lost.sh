# A gate passes by nothing that B does not say.
tscope diff --quiet data/run_before data/run_before/steps.jsonl --fail-on new-finding \
	--fail-on 'severity>=high' --fail-on 'overlap.exposed_ns>+5%' --fail-on DIST.EXPOSED_COMM
