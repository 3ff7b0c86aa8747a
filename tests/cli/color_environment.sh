# NO_COLOR wins over FORCE_COLOR, and the option over both.
tscope trace data/two_steps.json >plain
FORCE_COLOR=1 tscope trace data/two_steps.json >forced
NO_COLOR=1 FORCE_COLOR=1 tscope trace data/two_steps.json >no
NO_COLOR=1 tscope trace --color=always data/two_steps.json >always
FORCE_COLOR=1 tscope trace --color=never data/two_steps.json >never
CLICOLOR_FORCE=1 tscope trace data/two_steps.json >cli
cmp plain no && cmp plain never && cmp plain cli && cmp forced always && ! cmp -s plain forced &&
	sed 's/\x1b\[[0-9]*m//g' forced | cmp - plain
