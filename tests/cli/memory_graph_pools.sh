# Two graphs, each with a pool of its own that its capture left free: one pool could serve both.
pool='{"device": 0, "address": %d, "total_size": 134217728, "stream": 0, "segment_type": "large",
	"segment_pool_id": [%d, 0], "blocks": [{"size": 134217728, "state": "inactive"}]}'
printf "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 134217728, \"stream\": 0,
	\"segment_type\": \"large\", \"segment_pool_id\": [0, 0], \"blocks\": [{\"size\": 134217728,
	\"requested_size\": 134217728, \"state\": \"active_allocated\"}]}, $pool, $pool],
	\"device_traces\": [[{\"action\": \"snapshot\", \"size\": 0, \"stream\": 0}]]}" \
	268435456 1 536870912 2 | tscope memory -
