# SPDX-License-Identifier: MIT
"""The folder fkat_run: what fkat's callbacks published of a job of two ranks, as artifacts of a run
in an MLflow store. make.py writes it; README.md works its figures out."""
import gzip
import json
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/reference"))

import make_metrics
import make_runs
import make_viztracer
import memray_writers  # noqa: E402: found by the line above
from make_three_jobs import AUTOGRAD, GEMM, MAIN, STREAM, annotation, lightning_step, span

RUN_ID = "c41d" * 8
ARTIFACTS = f"fkat_run/mlruns/7/{RUN_ID}/artifacts"
STARTED = 1790857026  # Unix time
PUBLISHED = (6, 12)   # batches that are done when a window ends
STEP_US, FETCH_US, WINDOW_GAP_US = 8000, 450, 2500
COMM_STREAM = 20
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
# Of forward; backward computes the product twice, once for each factor.
ROWS, INNER, COLUMNS = 8192, 2048, 4096
STEP_FLOPS = 3 * 2 * ROWS * INNER * COLUMNS
# What fkat takes for the peak of an A100: twice 312 TFLOP/s.
FKAT_PEAK, RANKS = 624e12, 2


# ---- the profiler's windows -----------------------------------------------------------------


def collective(number):
    return {"Collective name": "allreduce", "In msg nelems": 1 << 23, "Out msg nelems": 1 << 23,
            "Group size": 2, "dtype": "BFloat16", "Process Group Name": "0", "Seq": number,
            "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]"}


def product(name, tid, start, end, *dims):
    return span("cpu_op", name, tid, start, end, **{
        "Input Dims": [list(each) for each in dims], "Input type": ["c10::BFloat16"] * len(dims)})


def step(rank, number, at):
    """Lightning's step, its linear layer as a product, and an all-reduce; rank 1 comes late."""
    late = 250 * rank
    for event in lightning_step(number, at):
        if event["name"] == GEMM and event["ts"] > at + 2600:
            event["dur"] = 1550  # the first of two
        if event["name"] != "aten::linear":
            yield event
    yield product("aten::linear", MAIN, at + 550, at + 650, (ROWS, INNER), (COLUMNS, INNER))
    yield product("aten::mm", AUTOGRAD, at + 2710, at + 2800, (COLUMNS, ROWS), (ROWS, INNER))
    yield product("aten::mm", AUTOGRAD, at + 2810, at + 2890, (ROWS, COLUMNS), (COLUMNS, INNER))
    yield span("cuda_runtime", "cudaLaunchKernel", AUTOGRAD, at + 2820, at + 2830,
               correlation=10 * number + 5)
    yield span("kernel", GEMM, STREAM, at + 4450, at + 6000, correlation=10 * number + 5,
               device=0, stream=STREAM)
    yield span("cpu_op", "record_param_comms", AUTOGRAD, at + 2900, at + 2950,
               **collective(number))
    yield span("cuda_runtime", "cudaLaunchKernelExC", AUTOGRAD, at + 2910, at + 2920,
               correlation=10 * number + 6)
    yield span("kernel", ALL_REDUCE, COMM_STREAM, at + 5000 + late, at + 6500,
               correlation=10 * number + 6, device=0, stream=COMM_STREAM, **collective(number))


def window(rank, index, document):
    """One ProfilerStep around all of its batches: the profiler is stepped when it publishes. It
    begins anew within that, which leaves an empty mark."""
    first = PUBLISHED[index - 1] if index else 0
    count = PUBLISHED[index] - first
    start = 1000 + first * STEP_US + index * WINDOW_GAP_US
    events = [annotation(f"ProfilerStep#{index}", start - 30, start - 25),
              annotation(f"ProfilerStep#{index}", start - 20, start + count * STEP_US)]
    for place in range(count):
        events += step(rank, first + place, start + place * STEP_US)
    return document(events, {
        "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS},
        "displayTimeUnit": "ms", "baseTimeNanoseconds": STARTED * 10**9})


# ---- the host's memory ----------------------------------------------------------------------

MALLOC, FREE = 1, 2


class Capture:
    """A capture of memray 1.18 (format 11) of one thread: every allocation, without padding."""

    def __init__(self):
        self.out, self.last, self.frames, self.count = bytearray(), {}, {}, 0

    def delta(self, field, value):
        change = value - self.last.get(field, 0)
        self.last[field] = value
        return memray_writers.svarint(change)

    def push(self, function, file, line):
        frame = (function, file, line)
        if frame not in self.frames:
            self.frames[frame] = len(self.frames) + 1
            self.out += b"\x03" + self.delta("frame", self.frames[frame]) + memray_writers.text(
                function) + memray_writers.text(file) + self.delta("line", line)
        self.out += b"\x04" + self.delta("frame", self.frames[frame])

    def pop(self):
        self.out.append(9)

    def malloc(self, address, size):
        self.out += bytes([1 | MALLOC << 4]) + self.delta("address", address)
        self.out += memray_writers.varint(size)
        self.count += 1

    def free(self, address):
        self.out += bytes([1 | FREE << 4]) + self.delta("address", address)
        self.count += 1

    def resident(self, ms, size):
        self.out += b"\x0b" + memray_writers.varint(size) + memray_writers.varint(ms)

    def document(self, command, end_ms):
        head = b"memray\0" + struct.pack("<iBBQQqq", 11, 0, 0, self.count, len(self.frames),
                                         STARTED * 1000, STARTED * 1000 + end_ms)
        head += memray_writers.text(command) + struct.pack("<iQQBB", 4242, 1, 0, 1, 0)
        return head + b"\x0c" + struct.pack("<Q", 1) + bytes(self.out) + b"\x10"


def host_memory():
    """A buffer of 4 MiB for each batch, which goes, and 256 KiB in a cache, which stay."""
    capture, cache = Capture(), 0x7f0000000000
    capture.push("<module>", "/job/train.py", 3)
    capture.push("__init__", "/job/data.py", 11)
    capture.malloc(cache - (32 << 20), 16 << 20)
    capture.pop()
    for number in range(PUBLISHED[-1]):
        capture.push("__getitem__", "/job/data.py", 24)
        capture.malloc(0x7e0000000000, 4 << 20)
        capture.push("remember", "/job/cache.py", 9)
        capture.malloc(cache + (number << 18), 1 << 18)
        capture.pop()
        capture.free(0x7e0000000000)
        capture.pop()
        capture.resident(8 * (number + 1), (300 << 20) + (number << 18))
    return capture.document("train.py --config fkat.yaml", 8 * PUBLISHED[-1] + 4)


# ---- the rest -------------------------------------------------------------------------------


def python_page():
    """VizTracer's page of three of the batches, on the clock of the windows."""
    document = make_viztracer.loop()
    start_us = 1000 + PUBLISHED[0] * STEP_US + WINDOW_GAP_US
    document["viztracer_metadata"]["baseTimeNanoseconds"] = (
        STARTED * 10**9 + start_us * 1000 - round(make_viztracer.FIRST * 1000))
    return make_viztracer.PAGE % json.dumps(document).replace("</script>", "<\\/script>")


def metrics():
    """Every fifth batch, from its start to its end; losses are Lightning's, which counts from 0."""
    jitter = make_runs.noise(73)
    rate = 1e6 / (STEP_US - FETCH_US)
    most = FKAT_PEAK * RANKS / (STEP_FLOPS * RANKS)
    figures = {"mfu": rate / most, "actual_batches_per_sec": rate, "max_batches_per_sec": most,
               "batch_flops": STEP_FLOPS * RANKS, "total_flops": FKAT_PEAK * RANKS,
               "batch_flops_tracked_operations": 3 * RANKS, "batch_flops_untracked_operations": 4}
    made = {name: [(number, value) for number in (5, 10)] for name, value in figures.items()}
    made["train_loss"] = [(number, round(3.2 - 0.1 * number + 0.01 * next(jitter), 5))
                          for number in range(PUBLISHED[-1])]
    return make_metrics.mlflow_run(made, {"precision": "bf16-mixed"}, RUN_ID, "flying-cat")


def packed(text):
    return gzip.compress(text if isinstance(text, bytes) else text.encode(), mtime=0)


def files(document, execution_trace):
    """{name: bytes}; document(events, head) prints a trace. execution_trace: the text of one."""
    made = {f"{ARTIFACTS}/pt_profiler/train/{batch}/rank{rank}.json.gz":
            packed(window(rank, index, document))
            for index, batch in enumerate(PUBLISHED) for rank in range(RANKS)}
    return {
        **made,
        f"{ARTIFACTS}/pt_profiler/train/last/rank1.json": execution_trace.encode(),
        f"{ARTIFACTS}/memray/train/12/rank0.bin.gz": packed(host_memory()),
        f"{ARTIFACTS}/viztracer/train/12/rank0.html.gz": packed(python_page()),
        f"{ARTIFACTS}/viztracer/train/6/rank0.cvf":
        struct.pack("<QBQ", 1, 2, 4242) + b"MainProcess\0",
        "fkat_run/mlruns/7/meta.yaml": b"experiment_id: '7'\nlifecycle_stage: active\nname: fkat\n",
        **{f"fkat_run/mlruns/7/{name}": data for name, data in metrics().items()},
    }
