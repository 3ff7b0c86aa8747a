# SPDX-License-Identifier: MIT
"""serving_capture/ of this folder: a server's graphs, captured and replayed. make.py writes it;
README.md says what is true of it."""
import json

ATTENTION = "kernel_unified_attention_2d"
GEMM = "Cijk_Alik_Bljk_BBS_BH_MT16x16x64"
UP, DOWN = "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "_matmul_ogs_NNT_bf16xbf16xmxfp4"
BF16 = "c10::BFloat16"
LAYERS = 2


class Writer:
    """Events of one thread, one behind the other."""

    def __init__(self):
        self.events, self.now, self.correlation = [], 1000, 0

    def add(self, cat, name, start, dur, args, pid=9):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": pid,
                            "ts": start, "dur": dur, "args": args})

    def call(self, name, **args):
        self.correlation += 1
        self.add("cuda_runtime", name, self.now, 2, {**args, "correlation": self.correlation})
        self.now += 3
        return self.correlation

    def within(self, cat, name, args, body):
        start = self.now
        self.now += 1
        body()
        self.now += 1
        self.add(cat, name, start, self.now - start, args)

    def op(self, name, dims, body=lambda: None):
        types = [BF16 if sizes else "" for sizes in dims]
        self.within("cpu_op", name, {"Input Dims": dims, "Input type": types}, body)

    def kernel(self, correlation, name, start, dur):
        self.add("kernel", name, start, dur, {"device": 0, "stream": 3,
                                              "correlation": correlation}, pid=0)

    def write(self):
        head = {"schemaVersion": 1, "baseTimeNanoseconds": 1767189312000000000,
                "hip_runtime_version": 70051831, "record_shapes": 1, "with_stack": 1,
                "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
                "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304,
                                      "totalGlobalMem": 206141652992}]}
        rows = sorted(self.events, key=lambda event: (event["ts"], -event["dur"]))
        return (json.dumps(head)[:-1] + ', "traceEvents": [\n' +
                ",\n".join(map(json.dumps, rows)) + "\n]}\n").encode()


def capture(batch):
    w = Writer()

    def launch(kernel):
        w.call("hipModuleLaunchKernel", kernel=kernel, grid=[batch, 1, 1], block=[256, 1, 1])

    def product(name, m, n, k):
        added = [[n]] if name == "aten::addmm" else []
        w.op(name, [*added, [m, k], [k, n]], lambda: launch(GEMM))

    def experts():
        w.op("TopK", [[batch, 8], []], lambda: launch("_topk_forward"))
        w.op("aten::view", [[8, 32, 96], []])
        launch(UP)
        w.op("aten::view", [[1, 2 * batch, 48], []])
        w.op("aten::view", [[8, 24, 64], []])
        launch(DOWN)

    def layer():
        product("aten::addmm", batch, 128, 64)
        heads = [[batch, 4, 16], [batch, 2, 16], [batch, 2, 16], [batch, 4, 16]]
        w.op("vllm::unified_attention_with_output", heads, lambda: launch(ATTENTION))
        w.op("vllm::moe_forward", [[batch, 64], [batch, 8], [], []], experts)
        launch("triton_poi_fused_add_0")

    def model():
        for i in range(LAYERS):
            w.within("python_function", f"nn.Module: Block_{i}", {}, layer)
        product("aten::mm", batch, 512, 64)

    start = w.now
    w.now += 5
    w.call("hipStreamBeginCapture")
    w.within("python_function", "nn.Module: Model_0", {}, model)
    w.call("hipStreamEndCapture")
    w.call("hipGraphInstantiateWithFlags")
    w.add("user_annotation", f"capture_{batch}_FULL", start, w.now - start, {})
    return w.write()


def nodes():
    layer = [(GEMM, 12), (ATTENTION, 20), ("_topk_forward", 4), (UP, 30), (DOWN, 24),
             ("triton_poi_fused_add_0", 3)]
    return layer * LAYERS + [(GEMM, 15)]


def replay():
    """Four iterations: 4, 3 and 4 requests, of which the third lost a kernel; then other work."""
    w = Writer()
    plan = ((4, 1000, nodes()), (3, 900, nodes()), (4, 1004, nodes()[:4] + nodes()[5:]),
            (4, 1008, [("another_kernel", 10)] * 13))
    for requests, keys, kernels in plan:
        start = w.now
        w.now += 10
        eager = w.call("hipLaunchKernel", kernel="_prepare_inputs")
        graph = w.call("hipGraphLaunch")
        sizes = f"sq{requests}sk{keys}sqsq{requests}sqsk{keys}"
        w.kernel(eager, "_prepare_inputs", w.now, 5)
        at = w.now + 6
        for name, dur in kernels:
            w.kernel(graph, name, at, dur)
            at += dur + 1
        w.now = at + 20
        w.add("user_annotation", f"execute_{requests}_context_0(sq0sk0sqsq0sqsk0)_generation_"
              f"{requests}({sizes})", start, w.now - start - 5, {})
    return w.write()


def files():
    return {
        "serving_capture/replay.json": replay(),
        "serving_capture/capture_traces/graph_capture_rank_0.json": capture(4),
        "serving_capture/capture_traces/graph_capture_rank_0.8.json": capture(8),
    }
