# What other profilers leave: called by its name, whichever command is asked.
mkdir run
printf 'FIT Profiler Report\n' > run/fit-profiler-0.txt
printf 'main;train 17\n' > run/train.stacks
printf '{\251\3\332\1x' > run/train.prof
printf '{"$schema":"https://www.speedscope.app/","profiles":[]}' > run/speedscope.json
printf '{"schema":"1.1.1-chakra.0.0.4","nodes":[]}' > run/rank0.json
printf 'SQLite format 3\0 experiment_tags' > run/mlflow.db
printf ':W&B\341\276\0' > run/run-1.wandb
printf '\26\0\1' > run/report.nsys-rep
printf 'lr: 0.1\n' > run/hparams.yaml
for file in run/*; do
	for command in trace memory report; do
		tscope $command $file && exit 1
	done
done
printf 'PK\3\4' > run/last.ckpt
cp data/cpu_only.json run/trace.json
tscope report --verbose run | sed -n '/^found/,/^$/p; /^  ignored/,/^$/p'
tscope report run > /dev/null
