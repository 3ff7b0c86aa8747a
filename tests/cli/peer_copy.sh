# Layers on two devices of one process: Kineto says between which devices a copy goes by keys of its
# own, and has no "device" there.
python3 - <<'END'
import json
events = []
def add(cat, name, pid, tid, ts, dur, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args))
for step in range(4):
    base = 10000 * step
    add("user_annotation", f"ProfilerStep#{step}", 9, 1, base, 10000)
    for device in range(2):
        number, at = 4 * step + 2 * device + 1, base + 20 + 100 * device
        add("cpu_op", "aten::mm", 9, 1, at, 20)
        add("cuda_runtime", "cudaLaunchKernel", 9, 1, at + 5, 5, correlation=number)
        add("kernel", "ampere_bf16_s16816gemm_bf16_128x128_tn", device, 7,
            base + 50 + 5000 * device, 3000, device=device, stream=7, correlation=number)
    add("cpu_op", "aten::copy_", 9, 1, base + 60, 20)
    add("cuda_runtime", "cudaMemcpyAsync", 9, 1, base + 65, 5, correlation=4 * step + 2)
    add("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 0, 7, base + 3051, 1990, fromDevice=0,
        inDevice=0, toDevice=1, fromContext=1, inContext=1, toContext=2, stream=7,
        correlation=4 * step + 2, bytes=39800000, **{"memory bandwidth (GB/s)": 20.0})
with open("two.json", "w") as out:
    json.dump(dict(schemaVersion=1, traceEvents=events), out)
END
tscope trace two.json | grep -A2 "between devices\|where the time"
