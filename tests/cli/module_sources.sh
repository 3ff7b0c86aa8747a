# Whose memory and whose driver calls: two blocks that hold as much each of the peak, the net around
# them that holds less, a line that allocates in every step, and a compiled kernel that says whose
# code it is.
python3 - <<'PYTHON'
import json
events, total, address = [], 1000 << 20, 1 << 40
def span(cat, name, at, dur, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=9, tid=1, ts=at, dur=dur, args=args))
def block(at, where, size):
    global total
    total += size
    events.append(dict(ph="i", s="t", cat="cpu_instant_event", name="[memory]", pid=9, tid=1, ts=at,
                       args={"Total Reserved": 4 << 30, "Total Allocated": total, "Bytes": size,
                             "Addr": where, "Device Id": 0, "Device Type": 1}))
def call(at, name, dur, number):
    span("cuda_runtime", name, at, dur, correlation=number)
for step in range(5):
    at = 100000 * step
    span("user_annotation", f"ProfilerStep#{step}", at, 100000)
    span("python_function", "train.py(12): step", at + 10, 99000)
    span("python_function", "nn.Module: Net_0", at + 100, 90000)
    block(at + 500, address + (2 << 30), 200 << 20)
    for number in range(2):
        inner = at + 1000 + 40000 * number
        span("python_function", f"nn.Module: Block_{number}", inner, 39000)
        span("python_function", "net.py(7): forward", inner + 10, 38000)
        span("cpu_op", "aten::empty", inner + 100, 6000)
        call(inner + 200, "cudaMalloc", 5000, 0)
        block(inner + 6000, address + (number << 30), 500 << 20)
        launch = 10 * step + number + 1
        call(inner + 10000, "cuLaunchKernel", 10, launch)
        events.append(dict(ph="X", cat="kernel", name="triton_poi_fused_add_0", pid=0, tid=7,
                           ts=inner + 10020, dur=20000,
                           args={"device": 0, "stream": 7, "correlation": launch, "stack": [
                               '  File "/job/mlp.py", line 21, in forward\n    return x + y\n']}))
    block(at + 91000, address, -500 << 20)
    block(at + 91500, address + (1 << 30), -500 << 20)
    block(at + 92000, address + (2 << 30), -200 << 20)
json.dump(dict(schemaVersion=1, traceEvents=events), open("trace.json", "w"))
PYTHON
tscope trace --show modules,sources trace.json
tscope trace --format json --full trace.json | grep -o "most of this time in [^;\"]*"
