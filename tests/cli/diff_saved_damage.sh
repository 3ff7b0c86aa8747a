tscope --version | grep -q '^zlib [0-9]' || exit 77
# What was wrong with the files that a saved report was made of is said, and with --strict an error.
mkdir run
cp data/two_steps_cut.json run/rank0.json
printf '\037\213 cut' >run/rank1.json.gz
tscope report --quiet --format json --full --output run.json run 2>&1
tscope trace --quiet --format json --full --output trace.json data/two_steps_cut.json 2>&1
tscope report --quiet --format json --full --output dropped.json data/chrome_phases.json
tscope report --quiet --format json --full --output sound.json data/two_steps.json
for side in run trace dropped sound; do
	tscope diff --quiet --strict $side.json sound.json 2>&1
	echo "$side: $?"
	tscope diff $side.json sound.json 2>&1 >report.txt
	echo "$side: $?"
	grep -A 2 'damaged' report.txt
done
