# Of each file; where the tables are not seen, each gate that trips is named with its file.
tscope trace --full --output report.txt --fail-on 'steps.count>1' --fail-on 'device_busy.busy_ns<1' \
	data/two_steps.json data/cpu_only.json
echo $?
tscope trace --full --output report.txt --fail-on 'steps.count>1' --fail-on 'launches.launch_count>0' \
	data/two_steps.json data/cpu_only.json
echo $?
sed -n '/GATES/,/^$/p' report.txt
tscope trace --full --quiet --fail-on 'steps.count>1' data/two_steps.json data/no_such_file.json
echo $?
tscope trace --full --format json --fail-on 'steps.count>1' data/two_steps.json >report.json
echo $?
