# At the peak, and at the end; the report goes where it always goes.
tscope memory --quiet --flamegraph peak.txt data/oom.pickle
echo $?
cat peak.txt
tscope memory --quiet --output report.txt --flamegraph end.txt --flamegraph-at end data/leak_b.pickle
echo $?
cat end.txt
