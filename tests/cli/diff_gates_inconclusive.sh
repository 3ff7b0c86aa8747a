# Too few steps trip only with --strict, or where significance is no matter.
for option in --color=never --strict --no-significance; do
	tscope diff --quiet $option data/two_steps.json data/flops.json --fail-on 'step_time.mean_ns>+5%'
	echo "$option: $?"
done
tscope diff --strict --output report.txt data/two_steps.json data/flops.json \
	--fail-on 'step_time.mean_ns>+5%'
tscope diff --format json data/two_steps.json data/flops.json --fail-on 'step_time.mean_ns>+5%' |
	grep -A 3 '"gates"'
