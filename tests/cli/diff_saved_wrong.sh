# What is no report of one run cannot be a side, and why is said.
tscope report --format json --output run.json data/run_healthy
tscope diff --format json --output diff.json run.json run.json
tscope trace --format json --output traces.json data/two_steps.json data/cpu_only.json
head -c 2000 run.json >cut.json
sed 's/"schema_version": 2/"schema_version": 99/' run.json >later.json
for side in diff.json traces.json cut.json later.json; do
	tscope diff $side data/run_healthy
	echo "$side: $?"
done
