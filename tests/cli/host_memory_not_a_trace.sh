tscope trace data/host_memory/leak.bin
echo $?
tscope trace data/host_memory/stats.bin.json
echo $?
