# A saved report answers as the run does, on either side.
tscope report --format json --full --output before.json data/run_before
tscope report --format json --full --output after.json data/run_after
tscope diff data/run_before data/run_after | sed 1,4d >runs.txt
for pair in 'before.json data/run_after' 'data/run_before after.json' 'before.json after.json'; do
	tscope diff $pair >saved.txt
	sed 1,4d saved.txt | cmp - runs.txt && echo "$pair: the same"
done
head -n 4 saved.txt
tscope diff --fail-on 'step_time.mean_ns>+5%' --fail-on 'memory.peak_alloc_bytes>+250MiB' \
	--quiet before.json data/run_after
