# A single step that loads its kernels; steps that call the driver for memory, with large messages that
# move slowly; an engine that decodes as fast as memory allows.
python3 - <<'END'
import json
class Trace:
    def __init__(self, name):
        self.name, self.events, self.count = name, [], 0
    def add(self, cat, name, tid, ts, dur, pid=9, **args):
        self.events.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args))
    def call(self, name, ts, dur):
        self.count += 1
        self.add("cuda_runtime", name, 1, ts, dur, correlation=self.count)
    def kernel(self, name, ts, dur, stream=7, **args):
        self.add("kernel", name, stream, ts, dur, pid=0, device=0, stream=stream,
                 correlation=self.count, **args)
    def op(self, name, ts, dur, *dims):
        args = {"Input Dims": list(dims), "Input type": ["c10::BFloat16"] * len(dims)} if dims else {}
        self.add("cpu_op", name, 1, ts, dur, **args)
    def save(self):
        with open(f"{self.name}.json", "w") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}],
                       "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8},
                       "traceEvents": self.events}, file)

cold = Trace("cold")
cold.add("user_annotation", "ProfilerStep#0", 1, 0, 400000)
for i in range(40):  # each of its kernels is loaded
    cold.op("aten::mm", 10000 * i, 9500)
    cold.call("cudaLaunchKernel", 10000 * i + 100, 9300)
    cold.kernel(f"gemm_{i}", 10000 * i + 9450, 500)
cold.save()

steady = Trace("steady")
for step in range(5):
    base = 200000 * step
    steady.add("user_annotation", f"ProfilerStep#{step}", 1, base, 200000)
    for i in range(10):
        at = base + 10000 * i
        steady.op("aten::empty", at, 1100)
        steady.call("cudaMalloc", at + 50, 1000)
        steady.op("aten::mm", at + 1200, 100)
        steady.call("cudaLaunchKernel", at + 1210, 10)
        steady.kernel("gemm", at + 1230, 8700)
    for i in range(2):
        steady.op("c10d::allreduce_", base + 100000 + 100 * i, 50)
        steady.call("cudaLaunchKernel", base + 100010 + 100 * i, 10)
        steady.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", base + 100200 + 49000 * i, 48000, 20,
                      **{"Collective name": "allreduce", "In msg nelems": 33554432,
                         "Out msg nelems": 33554432, "Group size": 8, "dtype": "BFloat16"})
steady.save()

serve = Trace("serve")
for step in range(6):
    base = 10000 * step
    serve.add("user_annotation", "execute_context_0(0)_generation_16(16)", 1, base, 10000)
    for i in range(54):
        serve.op("aten::mm", base + 20 * i, 15, [16, 8192], [8192, 28672])
        serve.call("cudaLaunchKernel", base + 20 * i + 3, 5)
        serve.kernel("nvjet_tst_64x16_64x9", base + 20 + 180 * i, 175)
    serve.call("cudaStreamSynchronize", base + 1100, 8700)
serve.save()
END
for name in cold steady serve; do
	tscope trace $name.json | sed -n "/^  [A-Z]/,/^  where/p"
done
