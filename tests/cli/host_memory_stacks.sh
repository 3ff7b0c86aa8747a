# At the peak, and at the end; what memray says itself has no stacks.
tscope memory --quiet --flamegraph peak.txt data/host_memory/leak.bin
cat peak.txt
tscope memory --quiet --flamegraph end.txt --flamegraph-at end data/host_memory/aggregated.bin
cat end.txt
tscope memory --quiet --flamegraph none.txt data/host_memory/stats.bin.json
echo $?
ls none.txt
