# JSON holds the facts of all ranks, of those that the run names, or of the lowest; and of how many it does not.
for which in all outliers summary; do
	echo "$which"
	tscope report --format json --ranks $which --output $which.json data/run_sick 2>/dev/null
	sed -n '/^      "ranks": /,/^      "findings": /p' $which.json | grep -E '^          "rank": |"ranks_left_out"'
done
tscope report --full --show input summary.json 2>/dev/null | grep -A1 "holds nothing"
tscope diff --full summary.json all.json 2>/dev/null | grep -A1 "without --ranks"
# More than 64 are too many to be written without being asked for; a history of them is whole.
mkdir many
for rank in $(seq 0 65); do
	mkdir many/rank$rank && cp data/run_healthy/rank0/steps.jsonl many/rank$rank
done
tscope report --format json many | grep '"ranks_left_out"'
tscope report --format json --full many | grep -c '"ranks_left_out"'
tscope report --format baseline many | grep -c '"ranks_left_out"'
tscope report --ranks some many 2>&1; echo "exit $?"
