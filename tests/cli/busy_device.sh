# A device that never waits: busy is well used only where its kernels come near their rooflines, and
# nothing is known of that where the trace names no device.
python3 - <<'END'
import json
def write(path, dur, **properties):
    events = []
    for step in range(4):
        base = 100000 * step
        events.append(dict(ph="X", cat="user_annotation", name=f"ProfilerStep#{step}", pid=9, tid=1,
                           ts=base, dur=100000))
        for i in range(10):
            at, number = base + 10000 * i, 10 * step + i + 1
            events.append(dict(ph="X", cat="cpu_op", name="aten::mm", pid=9, tid=1, ts=at, dur=20,
                               args={"Input Dims": [[8192, 8192], [8192, 8192]],
                                     "Input type": ["c10::BFloat16", "c10::BFloat16"]}))
            events.append(dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=9, tid=1,
                               ts=at + 5, dur=5, args={"correlation": number}))
            events.append(dict(ph="X", cat="kernel", name="ampere_bf16_s16816gemm_bf16_128x128_tn",
                               pid=0, tid=7, ts=at + 12, dur=dur,
                               args={"device": 0, "stream": 7, "correlation": number}))
    json.dump(dict(properties, schemaVersion=1, traceEvents=events), open(path, "w"))
a100 = dict(id=0, name="NVIDIA A100-SXM4-80GB", totalGlobalMem=85097971712, computeMajor=8,
            computeMinor=0, numSms=108)
write("known.json", 9900, deviceProperties=[a100])
write("unknown.json", 9900)
END
for file in known unknown; do
    tscope trace $file.json | sed -n 4,6p
done
