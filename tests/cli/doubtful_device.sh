# What rules say of traces whose device cannot be believed, or not be explained: half of the work without
# its launch, launches without any work, graphs whose kernels were lost.
python3 - <<'END'
import json
def save(name, fill):
    events, calls = [], []
    def add(cat, name, tid, ts, dur, pid=9, **args):
        events.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args))
    def call(name, ts):
        calls.append(name)
        add("cuda_runtime", name, 1, ts, 5, correlation=len(calls))
    def kernel(ts, dur, correlation=None):
        args = {} if correlation is None else dict(correlation=correlation)
        add("kernel", "gemm", 7, ts, dur, pid=0, device=0, stream=7, **args)
    for step in range(3):
        add("user_annotation", f"ProfilerStep#{step}", 1, 10000 * step, 10000)
        for i in range(20):
            at = 10000 * step + 500 * i
            add("cpu_op", "aten::mm", 1, at, 20)
            fill(step, i, at, call, kernel, calls)
    with open(f"{name}.json", "w") as file:
        json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}],
                   "traceEvents": events}, file)
def unlinked(step, i, at, call, kernel, calls):
    if i % 2:
        call("cudaLaunchKernel", at + 5)
    kernel(at + 20, 450, len(calls) if i % 2 else None)
def lost(step, i, at, call, kernel, calls):
    call("cudaLaunchKernel", at + 5)
def graphs(step, i, at, call, kernel, calls):
    call("cudaGraphLaunch", at + 5)
    for part in range(4) if step == 0 else ():
        kernel(at + 20 + 100 * part, 90, len(calls))
for fill in (unlinked, lost, graphs):
    save(fill.__name__, fill)
END
for name in unlinked lost graphs; do
	tscope trace $name.json | sed -n "/^  [A-Z]/,/^  where/p"
done
