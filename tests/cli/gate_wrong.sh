# What is wrong with a gate is said before anything is read.
for gate in '' '<3' 'mfu<' 'mfu' 'mfu=0.3' 'mfu<nan' 'mfu<1e999' 'mfu<0.3x' 'mfu<high' straggler\>1 \
	severity 'severity>=hgih' 'TIMING.DATALOADER_BOUND>1' 'TIMING.DATALOADER_BUOND' \
	'integrity.verdict<3' 'overlap.comm_mn>3' 'overlap.comm_count_ms>3' 'kernels.by_name>3' \
	'zzzzzzzzzzzzzzzz'; do
	tscope report --fail-on "$gate" no_such_folder
	echo "$gate: $?"
done
