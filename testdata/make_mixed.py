# SPDX-License-Identifier: MIT
"""The folders mixed_*: traces of more than one job in one place, and two that look like it and are
of one job. make.py writes them; README.md says what keeps them apart."""
import json

BASE_NS = 1790857026000000000


def trace(pid, steps, at_s=0, step_ms=1, **said):
    """Steps with these numbers, one after another, each an operator of its whole length. said:
    rank, world, backend, gpu."""
    events, ts = [], at_s * 1e6
    for step in steps:
        for cat, name in (("user_annotation", f"ProfilerStep#{step}"), ("cpu_op", "aten::mm")):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": pid, "ts": ts,
                           "dur": step_ms * 1e3})
        ts += step_ms * 1e3
    document = {"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS}
    if "gpu" in said:
        document["deviceProperties"] = [{"id": 0, "name": said["gpu"]}]
        events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                       "ts": at_s * 1e6, "dur": 100, "args": {"device": 0, "stream": 7}})
    if "rank" in said:
        document["distributedInfo"] = {"backend": said.get("backend", "nccl"),
                                       "rank": said["rank"], "world_size": said.get("world", 2)}
    return (json.dumps(document | {"traceEvents": events}) + "\n").encode()


def handler_name(host, pid, at_s):
    """As tensorboard_trace_handler names its files."""
    return f"{host}_{pid}.{BASE_NS // 10**6 + at_s * 1000}.pt.trace.json"


def files():
    found = {}
    for run, (first_pid, at_s, step_ms) in enumerate(((100, 0, 1), (200, 50, 3))):
        for rank in range(2):
            name = handler_name("node1", first_pid + rank, at_s)
            found[f"rerun/{name}"] = trace(first_pid + rank, (2, 3), at_s, step_ms, rank=rank)
    for pid, at_s, name in ((100, 0, "bert"), (200, 600, "llama"), (300, 90, "resnet")):
        found[f"models/{name}.json"] = trace(pid, (6,), at_s, 1 + at_s // 60)
    for gpu, at_s in (("NVIDIA A100-SXM4-80GB", 0), ("NVIDIA H100 80GB HBM3", 5)):
        found[f"devices/{gpu[7:11]}.json"] = trace(100, (2, 3), at_s, gpu=gpu)
    for world in (2, 4):
        found[f"worlds/of_{world}.json"] = trace(world, (2, 3), rank=world // 4, world=world)
    for rank, backend in enumerate(("nccl", "gloo")):
        found[f"backends/rank{rank}.json"] = trace(100 + rank, (2, 3), rank=rank, backend=backend)
    for rank in range(2):
        found[f"attempts/attempt_{rank}/rank{rank}.json"] = trace(100 + rank, (2, 3), rank=rank)
        found[f"apart/rank{rank}.json"] = trace(100 + rank, (2, 3), 3600 * rank, rank=rank)
    found["unmarked/steps.json"] = trace(100, (2, 3))
    found["unmarked/whole.json"] = trace(100, (4,), 1, 40).replace(b"ProfilerStep#4", b"warm-up")
    for pid, steps, at_s in ((100, (2, 3), 0), (200, (12, 13), 50)):
        found[f"restart/{handler_name('node1', pid, at_s)}"] = trace(pid, steps, at_s, rank=0,
                                                                     world=1)
    for at_s in (0, 50):
        found[f"repeat/{handler_name('node1', 100, at_s)}"] = trace(100, (2, 3), at_s)
    return {f"mixed_{name}": data for name, data in found.items()}
