mkdir run && cp data/two_steps.json run/a.json
sed '0,/"ts"/s/"ts": *[0-9.]*/"ts": 1/' data/two_steps.json > run/b.json
tscope report run
