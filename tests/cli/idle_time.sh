# Three steps of 100 ms, idle for each cause that has a rule of its own: a slow first launch, a
# compiler, a drain, a copy that blocks, a sort on the CPU, garbage collection.
python3 - > idle_time.json <<'END'
import json
events, calls = [], []
def add(cat, name, tid, ts, dur, pid=9, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args))
def launch(name, host, start, dur, call=5):
    calls.append(name)
    add("cuda_runtime", "cudaLaunchKernel", 1, host, call, correlation=len(calls))
    add("kernel", name, 7, start, dur, pid=0, device=0, stream=7, correlation=len(calls))
def busy(at):
    add("cpu_op", "aten::mm", 1, at, 20)
    launch("gemm", at + 5, at + 10, 4990)
for step in range(3):
    at = 100000 * step
    add("user_annotation", f"ProfilerStep#{step}", 1, at, 100000)
    for i in range(10):
        busy(at)
        add("cpu_op", "aten::mul", 1, at + 4900, 10)
        at += 5000
    add("cpu_op", "aten::conv2d", 1, at, 8000)  # loads its module in each step
    add("cuda_runtime", "cuModuleLoadData", 1, at, 7900)
    at += 8000
    busy(at)
    at += 5000
    add("user_annotation", "_compile.compile_inner (dynamo_timed)", 1, at, 8000)
    at += 8000
    busy(at)
    add("cuda_runtime", "cudaStreamSynchronize", 1, at + 100, 11000)
    at += 11200
    add("cpu_op", "aten::sort", 1, at, 6000)
    at += 6000
    calls.append("copy")
    add("cpu_op", "aten::copy_", 1, at, 6000)
    add("cuda_runtime", "cudaMemcpy", 1, at, 6000, correlation=len(calls))
    add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, at + 5950, 40, pid=0, device=0, stream=7,
        correlation=len(calls), bytes=4096)
print(json.dumps({"traceEvents": events}))
END
tscope trace --full idle_time.json | sed -n '/FINDINGS  /,$p'
