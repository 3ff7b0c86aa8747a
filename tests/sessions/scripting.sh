# SPDX-License-Identifier: MIT
# A script reads the JSON, from a pipe as well as from a file, by jq and by Python.
manual=$(realpath "$(dirname "$0")/../../man/tscope-json.5")
. "$(dirname "$0")/answers.sh"

ask 0 'tscope trace --format json data/two_steps.json >report.json'
ask 0 'tscope trace --format json - <data/two_steps.json >piped.json'
if command -v python3 >/dev/null; then
	ask 0 'python3 -c "
import json
report = json.load(open(\"report.json\"))
run = report[\"runs\"][0]
print(run[\"facts\"][\"step_time\"][\"mean_ns\"])
print([f[\"id\"] for f in run[\"findings\"]][0])
"'
	says '^995000$'
	says '^[A-Z]+\.[A-Z_]+$'
fi
if command -v jq >/dev/null; then
	ask 0 "jq -r '.runs[].facts.step_time.mean_ns' report.json"
	says '^995000$'
	ask 0 "jq -r '.runs[].findings[] | [.severity, .title] | @tsv' report.json"
	says 'the device waits'
	# The examples of the manual, which may go on in the next line.
	ln -s data/two_steps.json t.json
	ln -s data/run_sick run
	ln -s data/run_before a
	ln -s data/run_after b
	sed -n '/^.Sh EXAMPLES/,/^.Sh SEE/{/^[$ ]/p}' "$manual" | sed ':a;/|$/{N;ba};s/\n//g' >examples
	[ "$(wc -l <examples)" -ge 10 ] || complain "less than 10 examples in tscope-json(5)"
	while read -r _ example; do
		ask 0 "$example"
		says .
		keeps_quiet_about '^null$'
	done <examples
fi
ask 0 'tscope report --list-facts'
says '^step_time.mean_ns '
# Standard output is the report and nothing else; a second run has the same bytes.
ask 0 'tscope trace --format json data/two_steps.json | cmp - report.json'
ask 4 'tscope trace --format json --output no/such/folder/report.json data/two_steps.json'
leave
