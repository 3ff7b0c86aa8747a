# SPDX-License-Identifier: MIT
"""Idle time by cause against idle_causes.py, an independent program for the same definition.

Both look at the same window: the steps that tscope counts (--keep-cold keeps cold ones). A cause
may differ by 1 % of the wall, and by what a host dispatches behind a wait for the device: the other
program counts that apart, tscope to the wait.

usage: check_idle_causes.py TSCOPE [FILE...]
"""
import concurrent.futures
import csv
import importlib.util
import sys
from collections import Counter

import program

MAX_BYTES = 40_000_000  # of a file, decompressed: the other program takes 1 s for each 2 MB
TOLERANCE = 0.01
KEPT = ("--keep-cold",)

# Where the two differ and tscope is right: part of the path -> why.
ANNOTATIONS = ("until PyTorch 1.9 annotations were filed as operators: Optimizer.step is host code, "
               "not dispatch")
MADE = "made for a unit test of others: the thread that loads data launches nothing, and may decide"
CALL_IDS = ("the calls carry the kernels' External id, which the other program looks for on operators "
            "only")
EMPTY = "aten::empty computes nothing on the CPU: it waits, which is op_stall"
REASONS = {
    "cuda_event_sync/event_sync_trace": EMPTY,
    "conv_07_transposed": CALL_IDS,
    "moe_01_many_experts": CALL_IDS,
    "tb_plugin/test/gpu_metrics_": ANNOTATIONS,
    "resnet50_num_workers_0/worker0.pt.trace": ANNOTATIONS,
    "inline/tb_plugin_test_profiler/": MADE,
}


def other_program():
    path = program.need(program.SHARED / "tools" / "idle_causes.py")
    spec = importlib.util.spec_from_file_location("idle_causes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def window_of(report):
    """Start and end of the counted steps, or None where they do not follow each other."""
    steps = report["facts"]["steps"]["list"]
    counted = [i for i, step in enumerate(steps) if not step["mark"]]
    if not counted or counted != list(range(counted[0], counted[-1] + 1)):
        return None
    if any(a["start_ns"] + a["wall_ns"] != b["start_ns"] for a, b in zip(steps, steps[1:])):
        return None
    last = steps[counted[-1]]
    return steps[counted[0]]["start_ns"], last["start_ns"] + last["wall_ns"]


def causes_of(other, path, window, boundary):
    """Idle time by cause, and how far the causes may differ in ns."""
    _, dev, host, over, durs = other.parse(path)
    runtime = [x for x in host if x.kind == "R"]
    launchers = Counter(d.launch.tid for d in dev if d.launch)
    threads = {tid: other.Thread([x for x in host if x.tid == tid and not other.is_step(x.name)],
                                 durs, over) for tid, _ in launchers.most_common()}
    nothing = "python" if any(x.kind == "O" for x in host) else "host_unrecorded"
    total, slack, waits = Counter(), 0, Counter()
    for device in {d.dev for d in dev}:
        start, end = window
        mine = [d for d in dev if d.dev == device]
        inside = [d for d in mine if d.e > start and d.s < end]
        if not inside:
            continue
        later = min((d.s for d in mine if d.s >= end), default=end)
        if max(d.e for d in inside) < end:
            slack += later - end
            end = later
        clipped = lambda device: [(max(d.s, start), min(d.e, end)) for d in dev
                                  if d.dev == device and d.e > start and d.s < end]
        others = other.union(iv for d in {d.dev for d in dev} - {device} for iv in clipped(d))
        total += other.device(device, other.union(clipped(device)), mine, (start, end), threads,
                              nothing, others, boundary != "whole_trace", runtime, [], waits)
    return total, slack + waits["drain_recoverable_ns"]


def compare(tscope, path):
    """(wall, {cause: (expected, found)} that differ, note)"""
    other = other_program()
    report = program.Program(tscope).report(path, *KEPT)
    facts = report["facts"].get("idle")
    if not facts or facts.get("total_ns") is None:
        return None, {}, "no idle time"
    window = window_of(report)
    if not window:
        return None, {}, "counted steps do not follow each other"
    budget = report["facts"]["budget"]
    expected, slack = causes_of(other, str(path), window, report["facts"]["steps"]["boundary"])
    found = {name[:-3]: value * budget["step_count"] for name, value in facts.items()
             if name.endswith("_ns") and name not in ("total_ns", "cold_ns")}
    limit = TOLERANCE * budget["wall_total_ns"] + slack + budget["step_count"]
    differing = {cause: (expected.get(cause, 0), found.get(cause, 0))
                 for cause in set(expected) | set(found)
                 if abs(expected.get(cause, 0) - found.get(cause, 0)) > limit}
    return budget["wall_total_ns"], differing, f"slack {slack}" if slack else ""


def traces():
    with open(program.need(program.DATA / "files.tsv"), encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["gpu_events"] not in ("", "0") and int(row["uncompressed_bytes"]) < MAX_BYTES:
                yield program.DATA / row["file"]


def main():
    tscope, *paths = sys.argv[1:]
    paths = paths or [path for path in traces() if path.exists()]
    failed = compared = 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        jobs = [(path, pool.submit(compare, tscope, path)) for path in paths]
        for path, job in jobs:
            try:
                wall_ns, differing, note = job.result()
            except (RuntimeError, ValueError, KeyError, OSError) as error:
                print(f"left out: {path}: {str(error)[:100]}")
                continue
            if wall_ns is None:
                print(f"left out: {path}: {note}")
                continue
            compared += 1
            reason = next((why for part, why in REASONS.items() if part in str(path)), "")
            for cause, (expected, found) in sorted(differing.items()):
                print(f"{'differs' if reason else 'DIFFERS'}: {path}: {cause} "
                      f"{expected / wall_ns:.3f} of the wall, tscope {found / wall_ns:.3f} "
                      f"{note} {reason}")
            failed += bool(differing) and not reason
    print(f"{compared} traces compared, {failed} differ")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
