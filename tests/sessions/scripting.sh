# SPDX-License-Identifier: MIT
# A script reads the JSON, from a pipe as well as from a file, by jq and by Python.
. "$(dirname "$0")/answers.sh"

ask 0 'tscope trace --format json data/two_steps.json >report.json'
ask 0 'tscope trace --format json - <data/two_steps.json >piped.json'
if command -v python3 >/dev/null; then
	ask 0 'python3 -c "
import json
report = json.load(open(\"report.json\"))
print(report[\"facts\"][\"step_time\"][\"mean_ns\"])
print([f[\"id\"] for f in report[\"findings\"]][0])
"'
	says '^995000$'
	says '^[A-Z]+\.[A-Z_]+$'
fi
if command -v jq >/dev/null; then
	ask 0 'jq -r .facts.step_time.mean_ns report.json'
	says '^995000$'
	ask 0 "jq -r '.findings[] | [.severity, .title] | @tsv' report.json"
	says 'the device waits'
fi
ask 0 'tscope report --list-facts'
says '^step_time.mean_ns '
# Standard output is the report and nothing else; a second run has the same bytes.
ask 0 'tscope trace --format json data/two_steps.json | cmp - report.json'
ask 4 'tscope trace --format json --output no/such/folder/report.json data/two_steps.json'
leave
