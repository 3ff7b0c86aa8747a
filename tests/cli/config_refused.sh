# SPDX-License-Identifier: MIT
# What is wrong with a project file is said with its line; help and version do not need it.
tscope --version | grep -q '^libyaml [0-9]' || exit 77
here=$PWD
{
	try() {
		printf "$1" >.tscope.yaml
		tscope report --top 3 data/two_steps.json
		echo $?
	}
	try '\ntopp: 3\n'
	try 'top: ten\n'
	try 'fail-on:\n  - mfu<0.35\n  - mfu>>1\n'
	try 'reprot:\n  top: 3\n'
	try 'diff:\n  keep-cold: true\n  steps: [1:2, 3:4]\n'
	try 'full: yes\n'
	try 'diff:\n  stack-filter: x\n'
	try 'top: 1\ntop: 2\n'
	try 'output: report.txt\n'
	try 'no-sandbox: true\n'
	try 'format: json=report.json\n'
	try 'rule: &a [GC.PAUSE=off]\nfail-on: *a\n'
	try 'a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\n'
	try 'top: !!int 3\n'
	try 'top: 3\n---\ntop: 4\n'
	try 'report:\n  top:\n    n: 3\n'
	try '[top, 3]\n'
	try 'top: 3\n\tfull: true\n'
	try 'step-marker: "a\\0b"\n'
	head -c 100000000 /dev/zero >.tscope.yaml
	tscope report data/two_steps.json
	echo $?
	tscope report --help >/dev/null
	tscope report --version >/dev/null
	tscope rules GC.PAUSE >/dev/null
	rm .tscope.yaml
	tscope report --config none.yaml data/two_steps.json
	echo $?
	tscope config reprot
	echo $?
} 2>&1 | sed "s|$here|HERE|g"
