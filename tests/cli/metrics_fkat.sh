# fkat's own MFU takes the peak for sparse matrices: the report says so, in its section and as a finding.
id=0123456789abcdef0123456789abcdef
metrics=mlruns/0/$id/metrics
mkdir -p rank0 rank1 $metrics mlruns/0/$id/params mlruns/0/$id/tags
printf 'run_id: %s\nrun_name: a\nexperiment_id: 0\nlifecycle_stage: active\nstatus: 3\n' $id >mlruns/0/$id/meta.yaml
for rank in 0 1; do
	for step in 0 1 2 3 4; do
		echo '{"step":'$step',"phases":{"forward":0.5,"backward":1.25,"optimizer":0.25}}'
	done >rank$rank/steps.jsonl
	echo '{"name":"a","rank":'$rank',"world_size":2,"flops_per_step":2.496e14,"peak_flops":3.12e14}' >rank$rank/run.json
done
for step in 1 3; do
	echo "179085702$step""000 0.2 $step" >>$metrics/mfu
	echo "179085702$step""000 499200000000000.0 $step" >>$metrics/batch_flops
	echo "179085702$step""000 1248000000000000.0 $step" >>$metrics/total_flops
	echo "179085702$step""000 0.5 $step" >>$metrics/actual_batches_per_sec
done
tscope report --full rank0 rank1 mlruns | sed -n '/● EFFICIENCY/,/^$/p; /● LOGGED/,/^$/p; /● METRICS/,/^$/p; /\[LOW\]/,/^$/p'
