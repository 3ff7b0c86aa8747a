# SPDX-License-Identifier: MIT
"""The files about memory of this folder; README.md works their figures out by hand. make.py prints
them. A small job of ours runs on the simulated allocator of tests/reference."""
import base64
import gzip
import io
import json
import pathlib
import pickle
import random
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "tests/reference"))
sys.dont_write_bytecode = True

import make_memory_files  # noqa: E402
import make_snapshot  # noqa: E402
import snapshot_writers  # noqa: E402
from cuda_allocator import ALL, MIB  # noqa: E402

TORCH = "/usr/lib/python3.11/site-packages/torch/"
MODULE = (("_call_impl", TORCH + "nn/modules/module.py", 1790),)
MAIN = (("main", "/home/user/job/train.py", 52),)


def frame(file, line, name):
    return (name, "/home/user/job/" + file, line)


# Who asks, innermost first, with what torch leaves on the stack.
BUILD = ((("__init__", TORCH + "nn/modules/linear.py", 109),) + (frame("model.py", 20, "__init__"),)
         + MAIN)
STEP = (frame("train.py", 33, "train_step"),) + MAIN
FORWARD = (("forward", TORCH + "nn/modules/linear.py", 125),) + MODULE + (
    frame("model.py", 74, "forward"),) + MODULE + STEP
BACKWARD = (("_engine_run_backward", TORCH + "autograd/graph.py", 824),
            ("backward", TORCH + "_tensor.py", 581), frame("train.py", 35, "train_step")) + MAIN
OPTIMIZER = (("_init_group", TORCH + "optim/adamw.py", 169),
             frame("train.py", 38, "train_step")) + MAIN
LEAK = (frame("train.py", 40, "train_step"),) + MAIN
RESIZE = (frame("buffers.py", 5, "resize"),) + MAIN
SCRATCH = (frame("buffers.py", 9, "scratch"),) + MAIN
GATHER = (frame("train.py", 44, "gather"),) + MAIN

LAYERS, WEIGHT, ACTIVATION = 4, 32 * MIB, 24 * MIB


class Job:
    """Collects operations as training_program.py describes them."""

    def __init__(self):
        self.operations, self.count = [("tick", 0), ("record", ALL)], 0

    def alloc(self, size, stack, tag):
        self.count += 1
        self.operations.append(("alloc", 0, self.count, size, 0, stack, tag))
        self.operations.append(("tick", 250))
        return self.count

    def free(self, number, stack=STEP):
        self.operations.append(("free", 0, number, stack))
        self.operations.append(("tick", 50))

    def build(self):
        for _ in range(LAYERS):
            self.alloc(WEIGHT, BUILD, "parameter")

    def step(self, is_first, leak):
        """Each layer keeps an activation and has a temporary, then a gradient for each weight."""
        saved, gradients = [], []
        for _ in range(LAYERS):
            saved.append(self.alloc(ACTIVATION, FORWARD, "activation"))
            self.free(self.alloc(2 * ACTIVATION, FORWARD, "temporary"))
        if leak:
            self.alloc(leak, LEAK, "leak")
        for number in reversed(saved):
            gradients.append(self.alloc(WEIGHT, BACKWARD, "gradient"))
            self.free(number)
        for _ in range(2 * LAYERS if is_first else 0):
            self.alloc(WEIGHT, OPTIMIZER, "optimizer state")
        for number in gradients:
            self.free(number)

    def fragment(self, holes, keep, hole, size):
        """Buffers that stay, each behind one that goes; then a request larger than any hole."""
        self.operations.append(("empty_cache", 0, RESIZE))
        drops = []
        for _ in range(holes):
            self.free(self.alloc(keep + hole, RESIZE, "temporary"), RESIZE)
            self.alloc(keep, RESIZE, "buffer")
            drops.append(self.alloc(hole, SCRATCH, "temporary"))
        for number in drops:
            self.free(number, RESIZE)
        self.alloc(size, GATHER, "buffer")


def run(job, capacity):
    plan = {"devices": 1, "capacity": capacity, "is_expandable": False, "max_split_mb": 0,
            "after_oom": "stop"}
    return make_snapshot.Run(plan, job.operations)


def out_of_memory():
    """1 GiB for tensors: 384 MiB stay, and 10 buffers of 4 MiB behind 10 holes of 56."""
    job = Job()
    job.build()
    for step in range(2):
        job.step(step == 0, 0)
    job.fragment(10, 4 * MIB, 56 * MIB, 128 * MIB)
    return run(job, 1324 * MIB)


def leaking(steps):
    """16 MiB of each step stay."""
    job = Job()
    job.build()
    for step in range(steps):
        job.step(step == 0, 16 * MIB)
    return run(job, 8192 * MIB)


def pickled(simulated):
    return pickle.dumps(snapshot_writers.Builder(simulated, "2.9", 0).build(), 4)


def page(simulated):
    """As python -m torch.cuda._memory_viz trace_plot writes it, of what torch's C++ pickled."""
    file = io.BytesIO()
    data = snapshot_writers.Builder(simulated, "cpp", 0).build()
    snapshot_writers.TorchScriptPickler(file).dump(data)
    raw = file.getvalue()
    raw += bytes(3 - len(raw) % 3)
    files = json.dumps([{"name": "snapshot.pickle", "base64": base64.b64encode(raw).decode()}])
    return ('\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type="module">\n'
            'import {add_local_files} from "https://example.org/MemoryViz.js"\n'
            f"const local_files = {files}\n"
            "add_local_files(local_files, 'Active Memory Timeline')\n</script>\n</body>\n")


def tensors():
    """Two steps: weights of 8 MiB were there before, activations come and go."""
    made = make_memory_files.Tensors(random.Random(1))
    weights = [made.create(8 * MIB, 0, make_memory_files.PREEXISTING) for _ in range(3)]
    for step in range(2):
        made.now_ns += 1_000_000
        batch = made.create(MIB, 2)
        saved = []
        for _ in weights:
            made.now_ns += 200_000
            saved.append(made.create(6 * MIB, 4))
        gradients = []
        for number in reversed(saved):
            made.now_ns += 300_000
            gradients.append(made.create(8 * MIB, 5))
            made.destroy(number)
        for number in weights:
            made.now_ns += 100_000
            if step == 0:
                made.create(16 * MIB, 1)
            made.change(number, 0)
        for number in (*gradients, batch):
            made.destroy(number)
    return made


def timelines():
    made = tensors()
    pairs = make_memory_files.coalesced(made.states, make_memory_files.to_us)
    plain = [[t for t, _ in pairs], [[0, *(state[i] for i in range(8))] for _, state in pairs]]
    return {"memory_timeline.json.gz": stored(plain),
            "memory_timeline.raw.json.gz": stored(made.rows)}


def stored(value):
    """Not compressed, so that no compressor's version shows."""
    return gzip.compress(json.dumps(value).encode(), compresslevel=0, mtime=0)


def statistics():
    """Four calls; what is allocated at the end of each grows by 2 MiB."""
    made = {}
    for iteration in range(4):
        for context, extra in (("start", 0), ("end", 2)):
            allocated = (100 + 2 * iteration + extra) * MIB
            made[f"0.training_step.{iteration}.{context}"] = {
                "allocated_bytes.all.current": allocated,
                "allocated_bytes.all.peak": allocated + 60 * MIB,
                "reserved_bytes.all.current": 200 * MIB,
                "reserved_bytes.all.peak": 220 * MIB,
                "num_alloc_retries": 1 if iteration == 3 else 0,
                "num_ooms": 0,
                "npp_diff": None if context == "start" else 0.5,
            }
    return make_memory_files.yaml_text(made)


def tracked(scale):
    """What a device holds, in MiB: scale times the activations."""
    values = {"Sharded Param": 64 * MIB, "Unsharded Param": 32 * MIB, "Sharded Grad": 16 * MIB,
              "Activation": scale * 48 * MIB, "OptState": 128 * MIB}
    return {"cuda:0": {**values, "Total": sum(values.values())}}


def tracker_log():
    modules = [(module, state, 1, tracked(scale))
               for module, scale in (("Model", 1), ("Model.layers.0", 2))
               for state in ("Before Pre-Forward", "After Post-Forward")]
    return make_memory_files.tracked_log(
        {"iteration": 1, "function": "training_step", "peak": tracked(3), "modules": modules,
         "is_new": True}, is_tabular=True)


def files():
    return {
        "oom.pickle": pickled(out_of_memory()),
        "leak_a.pickle": pickled(leaking(2)),
        "leak_b.pickle": pickled(leaking(5)),
        "snapshot.html": page(leaking(1)).encode(),
        **timelines(),
        "rank_0_memory_stats.yaml": statistics().encode(),
        "fsdp_mem_rank_0_training_step_1.log": tracker_log().encode(),
        # os.system("echo hostile"), if anybody were to load it
        "hostile_reduce.pickle": b"\x80\x04cposix\nsystem\n(X\x0c\x00\x00\x00echo hostiletR.",
    }
