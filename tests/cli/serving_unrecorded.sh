# A file that was cut out of a longer recording: the first kernel waits for work that it does not
# show. The latency of the iteration holds that wait, and says so.
python3 - > unrecorded.json <<'END'
import json
def event(cat, name, pid, tid, ts, dur, **args):
    return dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args)
events = [event("user_annotation", "execute_context_0(0)_generation_32(32)", 9, 1, 0, 100000)]
for i in range(40):
    events.append(event("cuda_runtime", "cudaLaunchKernel", 9, 1, 10 + 10 * i, 5, correlation=i + 1))
    events.append(event("kernel", "ampere_bf16_s16816gemm", 0, 7, 80000 + 500 * i, 498, device=0,
                        stream=7, correlation=i + 1))
json.dump({"schemaVersion": 1, "traceEvents": events}, __import__("sys").stdout)
END
tscope trace unrecorded.json
