# SPDX-License-Identifier: MIT
# A project file of another user is read only where it is named.
tscope --version | grep -q '^libyaml [0-9]' || exit 77
[ "$(id -u)" -eq 0 ] || exit 77
here=$PWD
{
	echo 'top: 3' >.tscope.yaml
	chown 12345 .tscope.yaml
	tscope config
	echo $?
	tscope config --config .tscope.yaml
} 2>&1 | sed "s|$here|HERE|g"
