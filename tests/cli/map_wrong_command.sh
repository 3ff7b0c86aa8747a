# What was mapped, and a history, are no traces and no files about memory: who reads them is said.
tscope --version | grep -q '^zstd [0-9]' || exit 77
tscope map --quiet --out mapped data/run_before/trace.json
mv mapped/*.tsr ranks.tsr
for command in trace memory hang "slice --out other.json" "map --out other"; do
	tscope $command ranks.tsr 2>&1 || echo "exit $?"
done
# A merge is of such files, all of them whole.
tscope merge ranks.tsr; echo "exit $?"
tscope merge --out both.tsr ranks.tsr data/run_before/trace.json; echo "exit $?"
head -c 1000 ranks.tsr > cut.tsr
tscope merge --out both.tsr ranks.tsr cut.tsr; echo "exit $?"
tscope merge --out both.tsr .; echo "exit $?"
mkdir empty
tscope merge --out both.tsr empty; echo "exit $?"
tscope merge --out ranks.tsr ranks.tsr; echo "exit $?"
ls *.tsr
rm cut.tsr
tscope merge --out both.tsr ranks.tsr ranks.tsr && cmp both.tsr ranks.tsr
tscope report --format metrics data/run_before > history.jsonl
for command in trace report; do
	tscope $command history.jsonl 2>&1 || echo "exit $?"
done
