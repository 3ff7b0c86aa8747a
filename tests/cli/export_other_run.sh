# Records of another run that would stay are refused, also with --force, and nothing changes.
tscope export --quiet data/run_sick --out four
tscope export --force data/run_healthy --out four; echo $?
mkdir -p flat/rank10 flat/rank9 flat/rank1 flat/ranks
touch flat/rank10/steps.jsonl flat/rank9/steps.jsonl flat/ranks/steps.jsonl
tscope export --force data/two_steps.json --out flat/; echo $?
find flat -type f | sort
tscope export --quiet data/two_steps.json --out one
tscope export --force data/run_healthy --out one; echo $?
ls one
# A run's own records are replaced, and what is nobody's may lie beside them.
mkdir -p four/rank7 four/ranks && touch four/ranks/steps.jsonl
tscope export --quiet --force data/run_sick --out four
