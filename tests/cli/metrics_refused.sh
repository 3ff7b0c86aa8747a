# Metrics given as a trace or as memory, tables that hold none, and a range without a value.
log=data/run_metrics/lightning_logs/version_0
for command in trace memory; do
	tscope $command $log/metrics.csv
	tscope $command $log/events.*
done
printf 'kernel,time\nmm,5\n' >kernels.csv
printf 'step,tag,value\n1,loss,2.5\n' >long.csv
printf 'step,loss\n,2.5\n' >metrics.csv
for file in kernels.csv long.csv metrics.csv; do
	tscope report $file
done
tscope report --steps 90:99 $log/metrics.csv
tscope report $log/hparams.yaml
