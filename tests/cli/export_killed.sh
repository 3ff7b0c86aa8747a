# What an export that was killed leaves behind is not taken for a file of the run.
sh -c 'ulimit -f 1; tscope export data/run_sick --out copy; true' 2>/dev/null
find copy -type f ! -name ".*"
tscope export --quiet data/run_sick --out copy && tscope report --quiet copy | head -2
