# A request that fails beside a KV cache: the advice is that of the engine which holds the cache.
printf '{"segments": [{"device": 0, "address": 4096, "total_size": 1073741824, "stream": 0,
	"segment_type": "large", "blocks": [{"size": 1073741824, "requested_size": 1073741824,
	"state": "active_allocated", "frames": [{"name": "_allocate_kv_cache", "line": 83,
	"filename": "/p/site-packages/vllm/worker/cache_engine.py"}]}]}],
	"device_traces": [[{"action": "oom", "size": 536870912, "device_free": 4096, "stream": 0,
	"frames": [{"name": "forward", "filename": "/u/model.py", "line": 41}]}]]}' |
	tscope memory --full - | sed -n '/FINDINGS/,/NOT EVALUATED/p'
