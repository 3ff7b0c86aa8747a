# A snapshot dumped as JSON is one, named or in a folder.
mkdir run
printf '{"segments": [{"device": 0, "address": 4096, "total_size": 2097152, "stream": 0,
"segment_type": "small", "blocks": [{"size": 2097152, "state": "inactive"}]}],
"device_traces": [[]]}' >run/snapshot.json
tscope report --full run
tscope report --full --quiet --format json run/snapshot.json | grep '"format"'
