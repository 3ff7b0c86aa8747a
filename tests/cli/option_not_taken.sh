# Options of other commands are named as such, and with them the commands that take them.
tscope trace --pipeline-stages 4 data/two_steps.json
tscope report --out there data/two_steps.json
tscope rules --top 3
tscope export --format json --out there data/two_steps.json
tscope rules --fial-on
