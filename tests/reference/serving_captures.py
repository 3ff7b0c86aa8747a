# SPDX-License-Identifier: MIT
"""Servers whose graphs were captured in traces of their own, beside the trace that replays them:
folders as vLLM and SGLang leave them, with what is true of the join."""
import random

import compare_joins
import make_serving

US = make_serving.US
HIDDEN, WIDE = 64, 192
TRAITS = ("names_sizes", "has_grids", "loses")


def layer_shape(layer, size):
    """Sizes of the product of a layer: [m, k] x [k, n]."""
    return size, HIDDEN, WIDE + 16 * layer


def add_capture(trace, size, mode):
    """Launches between two calls, which run nothing; products within operators."""
    start = trace.now
    trace.call("cudaStreamBeginCapture", 5 * US)
    for node, name in enumerate(trace.names(size)):
        grid = {"grid": [4 * size, 1, 1], "block": [128, 1, 1]} if trace.has_grids else {}
        began = trace.now
        trace.now += US
        trace.call("cudaLaunchKernel", 6 * US, kernel=name, **grid)
        trace.now += US
        if node % 3 == 0:
            m, k, n = layer_shape(node // 3, size)
            trace.add("cpu_op", "aten::mm", began, trace.now - began,
                      **{"Input Dims": [[m, k], [k, n]], "Input type": ["c10::BFloat16"] * 2})
    trace.call("cudaStreamEndCapture", 8 * US)
    trace.call("cudaGraphInstantiate", 300 * US)
    trace.add("user_annotation", f"capture_{size}_{mode}", start, trace.now - start)
    trace.now += 10 * US


def captures(rng, like, sizes):
    """Name of a file: its text. All sizes in one file, or each in its own."""
    files, mode = {}, rng.choice(("FULL", "DECODE", "decode"))
    groups = [sizes] if rng.random() < 0.5 else [[size] for size in sizes]
    for group in groups:
        trace = make_serving.Trace(rng, like.layers)
        trace.names_sizes, trace.has_grids = like.names_sizes, like.has_grids
        for size in group:
            add_capture(trace, size, mode)
        name = f"bs_{group[0]}_rank0.json" if len(group) == 1 else "graph_capture_rank_0.1.json"
        files[f"capture_traces/{name}"] = make_serving.write_trace(trace.events)
    return files


# ---- what is true

def wanted(said, form):
    """The batch that the annotation says: its number, and whether it is that of the graph."""
    if said.get("padded"):
        return said["padded"], True
    if form.startswith("vllm"):
        return said["decode_tokens"], False
    return said["decodes"], False


def candidates(trace, turn, sizes):
    """Captured sizes whose nodes the kernels of a replay can be; with their places among them."""
    names = [name for name, _ in turn["replayed"]]
    found = {}
    for size in sizes:
        if trace.has_grids and size != turn["it"]["graph"]:
            continue
        nodes = trace.names(size)
        at = compare_joins.places(names, nodes)
        if at and len(nodes) - len(names) <= len(nodes) // 10:
            found[size] = at
    return found


def choose(found, batch, is_exact, sizes):
    """The size that a replay is joined to, "ambiguous", or "unknown"."""
    if not found:
        return "unknown"
    if batch is None:
        return min(found) if len(found) == 1 else "ambiguous"
    if is_exact:
        return batch if batch in found else "ambiguous"
    fitting = [size for size in found if size >= batch and (len(sizes) > 1 or size < 2 * batch)]
    return min(fitting) if fitting else "ambiguous"


def mismatches(trace, turn, sizes):
    """Of a replay without a graph: kernels unlike the nodes of the nearest as long."""
    names = [name for name, _ in turn["replayed"]]
    return min((sum(trace.has_grids or name != node
                    for name, node in zip(names, trace.names(size)))
                for size in sizes if len(trace.names(size)) == len(names)), default=0)


def truth_of(trace, turns, form, sizes):
    sums = dict.fromkeys(("replay_count", "joined_count", "partial_count", "ambiguous_count",
                          "unknown_count", "mismatch_count", "kernel_count", "kernel_ns",
                          "joined_ns"), 0)
    flops = 0
    for turn in turns:
        if "replayed" not in turn:
            continue
        sums["replay_count"] += 1
        sums["kernel_count"] += len(turn["replayed"])
        sums["kernel_ns"] += sum(ns for _, ns in turn["replayed"])
        found = candidates(trace, turn, sizes)
        size = choose(found, *wanted(turn["said"], form), sizes)
        if size in ("unknown", "ambiguous"):
            sums[f"{size}_count"] += 1
            sums["mismatch_count"] += mismatches(trace, turn, sizes) if size == "unknown" else 0
            continue
        is_whole = len(turn["replayed"]) == len(trace.names(size))
        sums["joined_count" if is_whole else "partial_count"] += 1
        for (_, ns), at in zip(turn["replayed"], found[size]):
            if len(at) != 1:
                continue
            sums["joined_ns"] += ns
            node = min(at)
            if node % 3 == 0:
                m, k, n = layer_shape(node // 3, size)
                flops += 2 * m * k * n
    sums["captured_count"] = len(sizes)
    return sums, flops


def random_run(seed):
    """Name of a file: its text; what is true of the iterations, of the graphs, and the FLOPs."""
    rng = random.Random(f"captures {seed}")
    form = rng.choice(sorted(make_serving.FORMS))
    graphs = rng.choice(((4,), (4, 8), (1, 2, 4, 8, 16, 32)))
    traits = [trait for trait in TRAITS if rng.random() < 0.4]
    plan = make_serving.random_plan(rng, form, graphs)
    trace, turns = make_serving.simulate(rng, plan, form, rng.random() < 0.5, 40,
                                         of_graphs=traits, layers=rng.randint(1, 6))
    sizes = list(graphs)
    if trace.names_sizes and len(sizes) > 1 and rng.random() < 0.3:
        sizes.remove(rng.choice(sizes))  # a capture that nobody kept
    sums, flops = truth_of(trace, turns, form, sizes)
    files = {"replay.json": make_serving.write_trace(trace.events), **captures(rng, trace, sizes)}
    return files, make_serving.truth_of(turns, form, trace), sums, flops
