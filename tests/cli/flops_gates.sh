# MFU of the first is 0.3405; that of the second is at least 0.1294: a gate that it may pass trips.
for gate in 'mfu<0.34' 'mfu<0.35' 'efficiency.hfu<0.36' 'efficiency.flops_coverage_ratio<0.95'; do
	tscope trace --full --quiet --fail-on "$gate" data/flops.json
	echo "$gate: $?"
done
for command in trace report; do
	tscope $command --quiet --fail-on 'mfu<0.1' data/flops_part.json
	echo "$command: $?"
	tscope $command --quiet --fail-on 'mfu<0.2' --flops-per-step 200e9 data/flops_part.json
	echo "$command: $?"
done
