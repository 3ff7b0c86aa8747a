# Three steps of 100 ms whose device time known remedies win: gaps between short kernels, elementwise
# kernels in a row, conversions of layout, small copies, unfused attention, small collectives, an
# optimizer of single tensors.
python3 - > device_time.json <<'END'
import json
events, calls = [], []
def add(cat, name, tid, ts, dur, pid=9, **args):
    events.append(dict(ph="X", cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args))
def op(name, ts, dur, *dims):
    add("cpu_op", name, 1, ts, dur, **{"Input Dims": list(dims), "Input type": ["float"] * len(dims)})
def work(cat, name, host, start, dur, stream=7, **args):
    calls.append(name)
    add("cuda_runtime", "cudaMemcpyAsync" if "memcpy" in cat else "cudaLaunchKernel", 1, host, 2,
        correlation=len(calls))
    add(cat, name, stream, start, dur, pid=0, device=0, stream=stream, correlation=len(calls), **args)
SCORES, KEYS = [96, 512, 512], [96, 64, 512]
ATTENTION = (("aten::bmm", "gemm_a", 1000, [96, 512, 64], KEYS),
             ("aten::_softmax", "softmax_warp_forward", 8000, SCORES),
             ("aten::bmm", "gemm_b", 1000, SCORES, [96, 512, 64]))
for step in range(3):
    base = 100000 * step
    add("user_annotation", f"ProfilerStep#{step}", 1, base, 100000)
    host, at = base, base + 20
    for i in range(400):  # 40 us idle after each kernel of 4
        op("aten::index", host, 4)
        work("kernel", "index_put", host, at, 4)
        host, at = host + 5, at + 44
    for i in range(3):
        op("aten::mul", host, 4)
        work("kernel", "vectorized_elementwise_kernel", host, at, 12000)
        host, at = host + 5, at + 12000
    for i in range(4):
        op("aten::cudnn_convolution", host, 4)
        work("kernel", "void cudnn::ops::nchwToNhwcKernel<float>(float)", host, at, 2000)
        host, at = host + 5, at + 2000
    for i in range(120):
        op("aten::copy_", host, 4)
        work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", host, at + 50, 10, bytes=4096)
        host, at = host + 5, at + 60
    for name, kernel, dur, *dims in ATTENTION:
        op(name, host, 4, *dims)
        work("kernel", kernel, host, at, dur)
        host, at = host + 5, at + dur
    for i in range(120):
        op("c10d::allreduce_", host, 4)
        work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)", host, at, 50, stream=20)
        host, at = host + 5, at + 50
    add("user_annotation", "Optimizer.step#SGD.step", 1, host, 5 * 120)
    for i in range(120):
        op("aten::add_", host, 4)
        work("kernel", "vectorized_elementwise_kernel", host, at, 30)
        host, at = host + 5, at + 30
    work("kernel", "gemm_c", host, at, base + 100000 - at)
print(json.dumps({"traceEvents": events}))
END
tscope trace --full device_time.json | sed -n '/FINDINGS  /,$p'
