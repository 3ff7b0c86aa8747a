# At most one report has no file of its own; none replaces an input or another report.
tscope trace --format json --format text data/two_steps.json
echo $?
tscope trace --format json= data/two_steps.json
echo $?
tscope trace --format xml=a data/two_steps.json
echo $?
cp data/two_steps.json input.json
tscope trace --quiet --output a --format json=a input.json
echo $?
tscope trace --quiet --format json=input.json input.json >out
echo $?
cmp input.json data/two_steps.json
tscope trace --quiet --format json=nowhere/a input.json >out
