# A disk that is full leaves the old file and nothing half, whatever the command.
echo old >report
for command in "trace data/two_steps.json" "report data/run_sick" "memory data/oom.pickle" \
	"diff data/run_before data/run_after"; do
	(ulimit -f 1 && tscope $command --format json --output report); echo $?
done
(ulimit -f 1 && tscope memory --quiet data/oom.pickle --stack-depth 9 --flamegraph /dev/full >/dev/null); echo $?
cat report && ls -A
