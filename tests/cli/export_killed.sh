# What an export that was killed leaves behind is not taken for a file of the run.
mkdir -p copy/rank1 && mkfifo copy/rank1/steps.jsonl
tscope export --force data/run_sick --out copy &
until ls copy/rank0/.run.json.* >/dev/null 2>&1; do sleep 0.01; done
kill -KILL $!
wait $! 2>/dev/null; echo $?
rm copy/rank1/steps.jsonl
find copy -type f ! -name ".*"
tscope export --quiet data/run_sick --out copy && tscope report --quiet copy | head -2
