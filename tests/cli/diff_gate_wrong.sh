# What is wrong with a gate is said before anything is read.
for gate in 'mfu<2%' 'mfu<+' 'mfu<+5MiB' 'memory.peak_alloc_bytes>+5XB' 'new-findings' 'new-finding>0' \
	'integrity.verdict>+5%' 'step_change.change_ratio>5%' 'step_tim.mean_ns>+5%'; do
	tscope diff --fail-on "$gate" no_such_run no_other_run
	echo "$gate: $?"
done
# Changes are no gates of one run.
for gate in 'mfu<-2%' 'step_time.mean_ns>+5' new-finding 'step_change.change_ns>0'; do
	tscope report --fail-on "$gate" no_such_run
	echo "$gate: $?"
done
