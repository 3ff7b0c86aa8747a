# A signal that ends an export takes its temporary files away: here while it waits for a pipe's reader.
mkdir -p copy/rank1 && mkfifo copy/rank1/steps.jsonl
for signal in HUP TERM; do
	tscope export --force data/run_healthy --out copy &
	until ls copy/rank0/.run.json.* >/dev/null 2>&1; do sleep 0.01; done
	kill -$signal $!
	wait $!; echo $?
	ls -A copy/rank0
done 2>/dev/null
