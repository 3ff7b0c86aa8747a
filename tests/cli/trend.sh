# A history: three are too few, ten are as usual, one is slow, then the level changes; a line is no figure.
step() { echo "{\"run\": \"night $1\", \"fact\": \"step_time.mean_ns\", \"value\": $2}"; }
for ns in 1000100 1000300; do step "$ns" "$ns"; done > history.jsonl
gate='step_time.mean_ns>+3% of trend'
tscope trend --fail-on "$gate" history.jsonl
for ns in 1000200 999800 1000000 999900 1000400 999600 1000300 999900; do step "$ns" "$ns"; done >> history.jsonl
tscope trend --fail-on "$gate" history.jsonl || exit 9
step slow 1050000 > slow.jsonl
tscope trend --fail-on "$gate" history.jsonl slow.jsonl
for ns in 1050100 1049800 1050300 1050000; do step "$ns" "$ns"; done >> slow.jsonl
echo 'step 12' >> slow.jsonl
tscope trend --strict --last 9 --show history history.jsonl slow.jsonl
