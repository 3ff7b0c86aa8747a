tscope --version | grep -q '^zlib [0-9]' || exit 77
# What a run lacks: it is said, gates over ranks that hold are undecided, and --strict exits with 3.
check() {
	echo "== $1"
	tscope report --full --quiet --fail-on straggler --fail-on 'step_time.mean_ms<1' run 2>&1 |
		sed -n '/NOT READ/,/^$/p; /GATES/,$p'
	tscope report --full --quiet --strict run >report 2>said
	echo "strict: exit $?"
	cat said
	rm -rf run
}
for case in whole missing empty nul brace utf16 deep metrics; do
	cp -r data/run_healthy run
	chmod -R u+w run
	case $case in
	missing) sed -i 's/"world_size": 2/"world_size": 3/' run/rank*/run.json ;;
	empty) : >run/rank2.pt.trace.json ;;
	nul) mkdir run/rank2 && head -c 999 /dev/zero >run/rank2/steps.jsonl ;;
	brace) printf '{' >run/rank2.json ;;
	utf16) printf '\377\376{\0' >run/rank2.json ;;
	deep) mkdir -p run/1/2/3/4/5/6/7/8/9 ;;
	metrics) printf 'step,loss\n0,1\n' | gzip | head -c 15 >run/metrics.csv.gz ;;
	esac
	check "$case"
done
mkdir run
for rank in 0 1; do
	cp data/run_mixed/rank$rank/trace.json run/rank$rank.json
	chmod u+w run/rank$rank.json
done
cat data/run_mixed/rank0/trace.json >>run/rank1.json
check second
