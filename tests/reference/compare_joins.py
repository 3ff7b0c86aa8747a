#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replayed graphs joined to their capture, from the raw events and by another way than tscope's:
the share of kernel time that is joined, and the FLOPs of all operators.

usage: compare_joins.py TSCOPE RUN…

RUN is a folder with one trace of replays, and those of the capture in capture_traces/.
"""
import collections
import gzip
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys

BANDWIDTH = 5.3e12  # of the MI300X, on which all these were recorded
ANNOTATION = re.compile(r"execute_(\d+)_context_\d+\(sq(\d+)sk(\d+)sqsq\d+sqsk(\d+)\)_generation_"
                        r"\d+\(sq(\d+)sk(\d+)sqsq\d+sqsk(\d+)\)")
BYTES = {"c10::BFloat16": 2, "c10::Half": 2, "float": 4}


def read(path):
    opened = gzip.open if path.read_bytes()[:2] == b"\x1f\x8b" else open
    with opened(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    return [event for event in events if event.get("ph") == "X"]


def ns(event, key="dur"):
    return round(event[key] * 1000)


def of(events, *cats):
    return [event for event in events if event.get("cat") in cats]


# ---- the capture

def enclosing(ops, launch):
    """Operators around a launch, the outermost first."""
    return [op for op in ops if op["tid"] == launch["tid"] and
            op["ts"] <= launch["ts"] < op["ts"] + op["dur"]]


def captured_graphs(path):
    """Of each graph: batch, and for each node kernel, operators and modules around."""
    events = read(path)
    modules = sorted((event for event in of(events, "python_function")
                      if event["name"].startswith("nn.Module: ")), key=lambda event: event["ts"])
    ops = sorted(of(events, "cpu_op"), key=lambda op: (op["ts"], -op["dur"]))
    graphs, current = [], None
    for call in sorted(of(events, "cuda_runtime"), key=lambda call: call["ts"]):
        if "BeginCapture" in call["name"]:
            marks = [re.match(r"capture_(\d+)_[A-Za-z]", mark["name"])
                     for mark in of(events, "user_annotation")
                     if mark["ts"] <= call["ts"] < mark["ts"] + mark["dur"]]
            batch = next((int(mark[1]) for mark in marks if mark), None)
            current = {"batch": batch, "nodes": []}
            graphs.append(current)
        elif "EndCapture" in call["name"]:
            current = None
        elif current is not None and "kernel" in call["args"]:
            current["nodes"].append((call["args"]["kernel"], enclosing(ops, call),
                                     [module["name"] for module in enclosing(modules, call)]))
    return graphs, ops


# ---- what operators compute

def product(op):
    dims = op["args"].get("Input Dims", [])
    a, b = (dims[1], dims[2]) if op["name"] == "aten::addmm" else (dims[0], dims[1])
    return 2 * a[0] * a[1] * b[1]


def experts(op, ops):
    """By the tensors of the operators within: layers [e, …] up and down, rows between them."""
    (tokens, hidden), (_, count) = op["args"]["Input Dims"][:2]
    inner = [child["args"].get("Input Dims", [[]])[0] for child in ops
             if op["ts"] < child["ts"] < op["ts"] + op["dur"] and child["tid"] == op["tid"]]
    layers = [dims for dims in inner if len(dims) == 3 and dims[0] == count]
    up, down = layers[0][2], 2 * layers[1][1]  # 4-bit weights, two in one
    assert 2 * layers[0][1] == hidden and layers[1][2] == hidden and up in (down, 2 * down)
    rows = {math.prod(dims) // down for dims in inner
            if len(dims) > 1 and dims not in layers and dims[-1] == down}
    assert len(rows) == 1 and rows.pop() % tokens == 0
    rows = next(math.prod(dims) // down for dims in inner
                if len(dims) > 1 and dims not in layers and dims[-1] == down)
    return 2 * rows * hidden * (up + down)


def attention(op, said, device_ns):
    """None: keys cannot have been read in that time, so not all of them were."""
    at = 2 if op["name"].startswith("sglang_profiler::") else 0
    dims, types = op["args"]["Input Dims"][at:at + 3], op["args"]["Input type"][at:at + 3]
    heads, size = dims[0][1:]
    kv_heads, value_size = dims[2][-2:]
    moved = said["keys"] * kv_heads * (size + value_size) * BYTES[types[1]] + \
        said["tokens"] * heads * (size + value_size) * BYTES[types[0]]
    if moved > BANDWIDTH * device_ns / 1e9:
        return None
    return 2 * heads * (size + value_size) * said["pairs"]


def counted(chain):
    """The operator that stands for a launch."""
    for op in chain:
        if op["name"] == "vllm::moe_forward" or "attention" in op["name"]:
            return op
    return next((op for op in chain if op["name"] in ("aten::mm", "aten::addmm")), None)


# ---- the replay

def said_at(annotations, t):
    for annotation in annotations:
        match = ANNOTATION.match(annotation["name"])
        if match and annotation["ts"] <= t < annotation["ts"] + annotation["dur"]:
            tokens, *numbers = map(int, match.groups())
            return {"tokens": tokens, "keys": numbers[1] + numbers[4],
                    "pairs": numbers[2] + numbers[5]}
    return None


def places(names, captured):
    """For each kernel its only possible node, trying all ways to lose some; None: no way."""
    lost = len(captured) - len(names)
    if lost < 0 or lost > len(captured) // 10 or lost > 2:
        return None
    ways = [[i for i in range(len(captured)) if i not in gone]
            for gone in itertools.combinations(range(len(captured)), lost)
            if [name for i, name in enumerate(captured) if i not in gone] == names]
    return [set(of_kernel) for of_kernel in zip(*ways)] or None


def find_graph(graphs, names, tokens):
    fitting = [graph for graph in graphs if graph["batch"] is None or graph["batch"] >= tokens]
    for graph in sorted(fitting, key=lambda graph: graph["batch"] or 0):
        found = places(names, [kernel for kernel, *_ in graph["nodes"]])
        if found:
            return graph, found
    return None, None


def count_replay(graph, found, kernels, said, all_ops):
    """Joined ns, FLOPs, and ns by class of the innermost module."""
    calls, joined_ns, of_modules = {}, 0, collections.Counter()
    for kernel, at in zip(kernels, found):
        if len(at) != 1:
            continue
        joined_ns += ns(kernel)
        node = graph["nodes"][min(at)]
        if node[2]:
            of_modules[re.sub(r"_\d+$", "", node[2][-1].split(": ")[1])] += ns(kernel)
        op = counted(node[1])
        if op:
            calls.setdefault(id(op), [op, 0])[1] += ns(kernel)
    flops = 0
    for op, device_ns in calls.values():
        if op["name"] == "vllm::moe_forward":
            flops += experts(op, all_ops)
        elif "attention" in op["name"]:
            flops += attention(op, said, device_ns) or 0
        else:
            flops += product(op)
    return joined_ns, flops, of_modules


def recompute(run):
    graphs, all_ops = [], []
    for path in sorted((run / "capture_traces").iterdir()):
        of_path, ops = captured_graphs(path)
        graphs += of_path
        all_ops.append((of_path, ops))
    path = next(path for path in sorted(run.iterdir()) if ".json" in path.name)
    events = read(path)
    kernels = sorted(of(events, "kernel"), key=lambda event: event["ts"])
    sums = {"replays": 0, "kernel_ns": 0, "joined_ns": 0, "flops": 0,
            "modules": collections.Counter()}
    for call in of(events, "cuda_runtime"):
        if "GraphLaunch" not in call["name"]:
            continue
        mine = [k for k in kernels if k["args"]["correlation"] == call["args"]["correlation"]]
        said = said_at(of(events, "user_annotation"), call["ts"])
        graph, found = find_graph(graphs, [k["name"] for k in mine], said["tokens"])
        sums["replays"] += 1
        sums["kernel_ns"] += sum(map(ns, mine))
        if graph:
            ops = next(ops for of_path, ops in all_ops if graph in of_path)
            joined_ns, flops, of_modules = count_replay(graph, found, mine, said, ops)
            sums["modules"].update(of_modules)
            sums["joined_ns"] += joined_ns
            sums["flops"] += flops
    eager = [op for op in of(events, "cpu_op") if op["name"] in ("aten::mm", "aten::addmm")]
    sums["flops"] += sum(map(product, eager))
    return sums


def report(tscope, run):
    done = subprocess.run([tscope, "report", "--format", "json", "--full", str(run)], check=True,
                          capture_output=True)
    return json.loads(done.stdout)["runs"][0]["facts"]


def modules_of(facts):
    """Device time by class of the innermost module: "A.Layer.*.Linear[1]" is a Linear."""
    found = collections.Counter()
    for row in facts["modules"]["by_module"]:
        parts = [part for part in row["name"].split(".") if not part.startswith("*")]
        found[re.sub(r"\[\d+\]$", "", parts[-1])] += row["self_device_ns"]
    return found


def compare(tscope, run, facts=None):
    """[(what, expected, found)], of those that are to be equal."""
    facts, sums = facts or report(tscope, run), recompute(run)
    found, of_modules = facts["graphs"], modules_of(facts)
    yield from ((f"{run.name} ns of {cls}", ns_of, of_modules[cls])
                for cls, ns_of in sums["modules"].items())
    yield from [(f"{run.name} {what}", sums[key], value) for what, key, value in (
        ("replays", "replays", found["replay_count"]),
        ("ns in graphs", "kernel_ns", found["kernel_ns"]),
        ("ns joined", "joined_ns", found["joined_ns"]),
        ("FLOPs", "flops", facts["flops"]["total"]))]


def main():
    differ = 0
    for run in map(pathlib.Path, sys.argv[2:]):
        for what, expected, found in compare(sys.argv[1], run):
            differ += expected != found
            print(f"{'ok' if expected == found else 'DIFFERS'}: {what}: {expected}, tscope {found}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
