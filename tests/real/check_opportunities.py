#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures behind the rules on kernels and copies, computed a second time from the raw events: gaps
between short kernels, fusible kernels, conversions of layouts, small copies, tiny collectives.

usage: check_opportunities.py TSCOPE [FILE...]
"""
import bisect
import collections
import pathlib
import re
import sys

import program
import traces

FILES = (
    "AMD-AGI+TraceLens/tests/traces/h100/Falconsai_nsfw_image_detection__1016002.json.gz",
    "AMD-AGI+TraceLens/tests/traces/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "AMD-AGI+TraceLens/tests/traces/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "AMD-AGI+TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz",
    "AMD-AGI+TraceLens/tests/traces/mi210/gpu_only_trace/gpu_only_trace.json.gz",
    "facebookresearch+HolisticTraceAnalysis/tests/data/df_index_resolver/df_index_resolver.json.gz",
    "facebookresearch+param/et_replay/tests/inputs/dlrm_kineto.tar.gz.d/dlrm_kineto/"
    "worker0_step_12.1694128201545.pt.trace.json",
    "harryjmoss+particle_transformer/tensorboard_logs_forward_2024_12_09/batch_size_64/"
    "hmoss-6a49xb_1986400.1733769505653252946.pt.trace.json",
)
SHORT_NS, NEAR_NS, SMALL_BYTES, TINY_NS = 10_000, 100_000, 65_536, 1_000_000
LAYOUT = re.compile("nchwtonhwc|nhwctonchw|batched_transpose|transpose_nchw2cnhw|transpose_cnhw2nchw")
GROUPED = re.compile("multi_tensor|foreach|fused")
FUSIBLE_KINDS = ("elementwise", "copy", "reduction")

Event = collections.namedtuple("Event", "start end category name correlation stream bytes")


def read(path):
    """The device events of each device in the order of time, and when calls end."""
    devices, calls = collections.defaultdict(list), {}
    for event in traces.read(path).events:
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        args, category = event.get("args") or {}, str(event.get("cat", "")).lower()
        start = traces.to_ns(event.get("ts"))
        end = start + traces.to_ns(event.get("dur", 0))
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            devices[args.get("device")].append(
                Event(start, end, category, event["name"], args.get("correlation"),
                      args.get("stream"), args.get("bytes")))
        elif category in ("cuda_runtime", "cuda_driver"):
            calls[args.get("correlation")] = (start, end)
    for events in devices.values():
        events.sort(key=lambda e: (e.start, calls.get(e.correlation, (0, 0))[0]))
    return devices, calls


def is_comm(event):
    return "nccl" in event.name.lower()


def is_kernel(event):
    return event.category == "kernel" and not is_comm(event)


def is_short(event):
    return is_kernel(event) and event.end - event.start < SHORT_NS


class Union:
    """When compute kernels run."""

    def __init__(self, events):
        self.starts, self.ends = [], []
        for event in filter(is_kernel, events):
            if self.ends and event.start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], event.end)
            else:
                self.starts.append(event.start)
                self.ends.append(event.end)

    def within(self, start, end):
        at, covered = bisect.bisect_right(self.ends, start), 0
        while at < len(self.starts) and self.starts[at] < end:
            covered += min(end, self.ends[at]) - max(start, self.starts[at])
            at += 1
        return covered


def fusible(event, kinds):
    name = event.name.lower()
    return (is_kernel(event) and kinds.get(event.name) in FUSIBLE_KINDS
            and not LAYOUT.search(name) and not GROUPED.search(name))


def add_event(sums, event, last, calls, union, kinds, runs):
    frontier = last.end if last else event.start
    gap = event.start - frontier
    gap = gap if 0 < gap <= NEAR_NS else 0
    begin = max(event.start, frontier)
    own = max(0, event.end - begin)
    exposed = own - union.within(begin, event.end) if own else 0
    if gap and is_short(event) and is_short(last):
        sums["short_gap_count"] += 1
        sums["short_gap_total_ns"] += gap
        if event.correlation in calls:
            sums["short_gap_host_total_ns"] += min(max(calls[event.correlation][1] - frontier, 0), gap)
    if LAYOUT.search(event.name.lower()):
        sums["layout_count"] += 1
        sums["layout_total_ns"] += own
    if event.category == "gpu_memcpy" and event.bytes is not None and event.bytes <= SMALL_BYTES:
        sums["small_copy_count"] += 1
        sums["small_copy_total_ns"] += exposed
        sums["small_copy_gap_total_ns"] += gap
    if is_comm(event) and event.end - event.start < TINY_NS:
        sums["tiny_comm_count"] += 1
        sums["tiny_comm_exposed_total_ns"] += exposed
    if not fusible(event, kinds):
        runs.append((event.stream, None))
    elif event.end - event.start >= SHORT_NS:
        sums["fusible_count"] += 1
        sums["fusible_total_ns"] += own
        runs.append((event.stream, own))


def saving(runs):
    """What the runs of each stream take beyond their longest kernels."""
    total = 0
    streams = collections.defaultdict(list)
    for stream, own in runs:
        streams[stream].append(own)
    for row in streams.values():
        run = []
        for own in row + [None]:
            if own is not None:
                run.append(own)
            elif run:
                total += sum(run) - max(run)
                run = []
    return total


def sum_up(path, report):
    facts = report["facts"]
    windows = [(s["start_ns"], s["start_ns"] + s["wall_ns"])
               for s in facts["steps"]["list"] if not s["mark"]]
    kinds = {row["name"]: row["kind"] for row in facts["kernels"]["by_name"]}
    sums, (devices, calls) = collections.Counter(), read(path)
    for events in devices.values():
        union, last, runs = Union(events), None, []
        for event in events:
            if any(start <= event.start < end for start, end in windows):
                add_event(sums, event, last, calls, union, kinds, runs)
            if last is None or event.end > last.end:
                last = event
        sums["fusible_saving_total_ns"] += saving(runs)
    return sums


def check_trace(results, path, report):
    ours, sums = report["facts"]["opportunities"], sum_up(path, report)
    for name in sorted(ours):
        has_part = name.startswith(("short_gap_", "layout_", "small_copy_"))
        # The sizes of collectives and who is in the optimizer are told by other checks.
        if name.startswith("tiny_comm_"):
            has_part = not any(row["bytes"] for row in
                               report["facts"].get("collectives", {}).get("by_kind", []))
        if name.startswith("fusible_"):
            has_part = ours["optimizer_count"] == 0
        if has_part and name != "short_gap_graph_total_ns":
            results.check(f"{program.short(path)} {name}", sums[name], ours[name])


def main():
    tscope = program.Program(sys.argv[1])
    program.need(program.DATA)
    results = program.Results()
    for path in map(pathlib.Path, sys.argv[2:] or [program.DATA / name for name in FILES]):
        check_trace(results, path, tscope.report(program.need(path)))
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
