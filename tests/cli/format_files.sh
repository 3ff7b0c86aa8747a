# Several reports of one reading: text as always, the others into files.
tscope trace --quiet --format json=a.json --format baseline=b.json --format text=c.txt data/two_steps.json
tscope trace --format json data/two_steps.json | cmp - a.json
tscope trace --format baseline data/two_steps.json | cmp - b.json
tscope trace --quiet data/two_steps.json | cmp - c.txt
