# SPDX-License-Identifier: MIT
# Without libyaml a project file that is there is named.
tscope --version | grep -q '^libyaml [0-9]' && exit 77
here=$PWD
{
	tscope trace --quiet data/two_steps.json >/dev/null
	echo 'top: 3' >.tscope.yaml
	tscope trace --quiet data/two_steps.json >/dev/null
	echo $?
	tscope trace --quiet --no-config data/two_steps.json >/dev/null
	echo $?
} 2>&1 | sed "s|$here|HERE|g"
