tscope --version | grep -q '^zstd [0-9]' || exit 77
mkdir run
cp data/two_steps.json run/rank0.json
head -c 100 data/two_steps.json.zst >run/rank1.json.zst
tscope report --quiet --strict run
