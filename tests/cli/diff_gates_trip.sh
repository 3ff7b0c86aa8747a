# Each kind of gate, all of which trip.
tscope diff --quiet data/run_before data/run_after --fail-on 'step_time.mean_ns>+5%' \
	--fail-on 'step_time.mean_us>+300' --fail-on 'step_time.mean_ns>+300us' \
	--fail-on 'memory.peak_alloc_bytes>+199MiB' --fail-on 'memory.peak_alloc_bytes>+19%' \
	--fail-on 'memory.peak_alloc_bytes>1GiB' --fail-on 'step_time.mean_ms>1' \
	--fail-on 'mfu<-2%' --fail-on new-finding --fail-on 'severity>=med' \
	--fail-on DIST.EXPOSED_COMM --fail-on straggler --fail-on 'kernel_changes.replaced_count>0' \
	--fail-on 'step_change.change_ratio>0.05' --fail-on 'overlap.exposed_ns>+5%' \
	--fail-on 'reproducibility.identical_trajectory==false' \
	--fail-on 'pipeline.bubble_ratio>+5%'
