# Each kind of gate, none of which trips.
tscope diff --quiet data/run_before data/run_after --fail-on 'step_time.mean_ns>+50%' \
	--fail-on 'step_time.mean_us>+330' --fail-on 'memory.peak_alloc_bytes>+200MiB' \
	--fail-on 'memory.peak_alloc_bytes>2GiB' --fail-on 'step_time.mean_ms>2' \
	--fail-on 'severity==high' --fail-on TIMING.BACKWARD_HEAVY --fail-on 'kernel_changes.gone_count>0' \
	--fail-on 'step_change.verdict!=changed' --fail-on 'memory.peak_reserved_bytes>+0%'
echo $?
tscope diff --quiet data/run_healthy/rank0 data/run_healthy/rank1 --fail-on 'step_time.mean_ns>+1%' \
	--fail-on new-finding --fail-on 'severity>=low' \
	--fail-on 'reproducibility.is_reproducible==false'
