# A baseline answers as the run itself, in a fraction of the room that a report takes.
for run in run_before run_sick; do
	tscope report --format baseline --output $run.json data/$run
	tscope report --format json --full --output all.json data/$run
	[ $(wc -c <$run.json) -lt $(($(wc -c <all.json) / 2)) ] && echo small
	for other in run_after run_healthy; do
		tscope diff --format json --full data/$run data/$other | sed '/^      "facts"/,/^      }/!d' >a
		tscope diff --format json --full $run.json data/$other | sed '/^      "facts"/,/^      }/!d' >b
		[ -s a ] && cmp a b && echo same
	done
done
