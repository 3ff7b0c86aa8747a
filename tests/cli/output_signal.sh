# A signal that ends an export takes its temporary files and folders away: here while it waits for a pipe's reader.
# (Who runs the tests may ignore SIGHUP, and what runs behind & ignores SIGINT.)
mkdir -p copy/rank1 && mkfifo copy/rank1/steps.jsonl
tscope export --force data/run_healthy --out copy 2>/dev/null &
until ls copy/rank0/.run.json.* >/dev/null 2>&1; do sleep 0.01; done
kill -TERM $!
wait $! 2>/dev/null; echo $?
ls -AR copy
