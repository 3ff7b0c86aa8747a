# Five steps of 10 ms. The first waits 3 ms in the first launch of a kernel and 1 ms in an allocation.
python3 - > cold.json <<'END'
import json
events = []
def add(cat, name, tid, ts, dur, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=0 if cat == "kernel" else 9, tid=tid, ts=ts,
                       dur=dur, args=args))
for i in range(5):
    at = 10000 * i
    add("user_annotation", f"ProfilerStep#{i}", 1, at, 10000)
    if i == 0:
        add("cuda_runtime", "cudaMalloc", 1, at, 1000)
    add("cpu_op", "aten::mm", 1, at + 1000, 4000)
    add("cuda_runtime", "cudaLaunchKernel", 1, at + 1100, 3000 if i == 0 else 10, correlation=i + 1)
    add("kernel", "gemm", 7, at + (4100 if i == 0 else 1110), 5000, device=0, stream=7,
        correlation=i + 1)
print(json.dumps({"traceEvents": events}))
END
tscope trace --full cold.json | grep -A 4 STEPS
tscope trace --full --keep-cold cold.json | grep -A 4 STEPS
tscope trace --full --steps 0:0 cold.json | grep -A 4 STEPS
