# Too few steps fail, but for those who let the undecided pass.
for option in --color=never --undecided=pass --no-significance; do
	tscope diff --quiet $option data/two_steps.json data/flops.json --fail-on 'step_time.mean_ns>+5%'
	echo "$option: $?"
done
tscope diff --output report.txt data/two_steps.json data/flops.json \
	--fail-on 'step_time.mean_ns>+5%'
tscope diff --format json data/two_steps.json data/flops.json --fail-on 'step_time.mean_ns>+5%' |
	grep -A 3 '"gates"'
