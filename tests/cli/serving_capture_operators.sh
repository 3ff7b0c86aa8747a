# A replay with operators and no stacks: only the captures know modules.
mkdir run
cp -r data/serving_capture/capture_traces run
sed '1a{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 9, "tid": 9, "ts": 1009, "dur": 4},' \
	data/serving_capture/replay.json > run/replay.json
tscope report --show modules run
