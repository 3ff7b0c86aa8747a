# Requests that no piece of free memory would have served: a limit of the process refused the
# first, and the second is rounded up to 20 MiB.
for request in '2147483648 64424509440' '4194304 16777216'; do
	printf '{"segments": [{"device": 0, "address": 4096, "total_size": 1073741824, "stream": 0,
	"segment_type": "large", "blocks": [{"size": 1073741824, "requested_size": 1073741824,
	"state": "active_allocated"}]}],
	"device_traces": [[{"action": "oom", "size": %d, "device_free": %d, "stream": 0}]]}' $request |
		tscope memory --full - | sed -n '/OUT OF MEMORY/,/SNAPSHOT/p'
done
