# A change within noise trips only with --no-significance.
for option in --strict --no-significance; do
	tscope diff --quiet $option data/run_healthy/rank0 data/run_healthy/rank1 \
		--fail-on 'step_time.mean_ns>+0.01%' --fail-on 'step_time.mean_us>+20'
	echo "$option: $?"
done
