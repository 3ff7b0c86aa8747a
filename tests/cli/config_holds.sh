# SPDX-License-Identifier: MIT
# Gates and the baseline of the project file; what is typed goes before it.
tscope --version | grep -q '^libyaml [0-9]' || exit 77
here=$PWD
{
	ln -s data/run_before good
	cat >.tscope.yaml <<-END
	full: true
	trace:
	  fail-on: step_time.mean_ns>1
	  undecided: pass
	diff:
	  full: false
	  baseline: good
	  fail-on: 'step_time.mean_ns>+1%'
	END
	mkdir folder
	cd folder
	tscope trace --quiet ../data/two_steps.json >/dev/null
	echo $?
	tscope trace --quiet --full=false --no-config ../data/two_steps.json
	echo $?
	tscope diff --quiet ../data/run_after | grep -E '^[AB] |step_time'
	tscope diff --quiet ../data/run_before ../data/run_before | grep -E '^[AB] |step_time'
	tscope diff --quiet --baseline ../data/run_after ../data/run_before | grep -E '^[AB] |step_time'
	tscope export --out out --quiet ../data/two_steps.json
} 2>&1 | sed "s|$here|HERE|g"
