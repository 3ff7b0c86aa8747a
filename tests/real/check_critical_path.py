#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The critical path against the one that HolisticTraceAnalysis (HTA) publishes for a trace.

HTA writes a copy of the trace in which what is on its path is marked, with the edges between
threads and streams. Both paths are the same but for what HTA's weights make of it: time
between operators weighs nothing there, so that its path ends on the device wherever a kernel
has run since; here a call that comes back from a device that had finished has waited for nothing.
Of two more of its traces, which record synchronisation, the path was worked out by hand.

usage: check_critical_path.py TSCOPE [--all]    --all: print what agrees as well
"""
import collections
import gzip
import json
import sys

import program

FOLDER = program.DATA / "facebookresearch+HolisticTraceAnalysis/tests/data/critical_path"
TRACE = "simple_add/benchmark_result_493459_1694039959_trace.json.gz"
OVERLAY = "end_to_end/simple_add/output/overlaid_critical_path_trace.json.gz"
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
HOST = {"cpu_op", "cuda_runtime"}
LAUNCH = "critical_path_kernel_launch_delay"
SYNC = "critical_path_sync_dependency"


def is_critical(event):
    return bool(event.get("args", {}).get("critical"))


def end(event):
    return event["ts"] + event["dur"]


class Overlay:
    """HTA's path, less its last stretch on the device, which no call waited for."""

    def __init__(self, events):
        critical = [event for event in events if is_critical(event)]
        spans = [event for event in critical if event["ph"] == "X"]
        self.host = {event["name"] for event in spans if event["cat"] in HOST}
        self.device = [event for event in spans if event["cat"] in DEVICE]
        self.launches = [event for event in critical
                         if event["ph"] == "s" and event["args"]["type"] == LAUNCH]
        self.syncs = [event for event in critical
                      if event["ph"] == "f" and event["args"]["type"] == SYNC]
        self.calls = [event for event in spans if "Synchronize" in event["name"]]

    def waited_for_nothing(self):
        """Calls at which HTA leaves the host for an event that had ended before they began."""
        ends = sorted(map(end, self.device))
        for call in self.calls:
            last = max((time for time in ends if time <= end(call)), default=None)
            if (last is not None and last <= call["ts"] and
                    any(sync["ts"] == end(call) for sync in self.syncs)):
                yield call

    def leave_out(self, call):
        """The launch before the call and what was queued behind it."""
        launch = max(edge["ts"] for edge in self.launches if edge["ts"] < call["ts"])
        left_out = [event for event in self.device if launch <= event["ts"] < call["ts"]]
        self.device = [event for event in self.device if event not in left_out]
        self.launches = [edge for edge in self.launches if edge["ts"] != launch]
        return left_out


def by_name(events):
    totals = collections.defaultdict(lambda: [0, 0])
    for event in events:
        totals[event["name"]][0] += 1
        totals[event["name"]][1] += event["dur"] * 1000
    return {name: tuple(total) for name, total in totals.items()}


def check_simple_add(tscope, results):
    with gzip.open(FOLDER / OVERLAY, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    path = Overlay(events)
    report = tscope.report(FOLDER / TRACE)
    facts = report["facts"]["critical_path"]

    # One: a cudaDeviceSynchronize 236 µs after the last of six events.
    calls = list(path.waited_for_nothing())
    results.check("HTA simple_add calls that waited for nothing", 1, len(calls))
    left_out = [event for call in calls for event in path.leave_out(call)]
    results.check("HTA simple_add events before them", 6, len(left_out))

    results.check("HTA simple_add device events on the path", by_name(path.device),
                  program.rows_by_name(report, "critical_path", "by_kernel", "count", "total_ns"))
    results.check("HTA simple_add launch edges", sum(edge["args"]["weight"] * 1000
                                                     for edge in path.launches),
                  facts["launch_ns"])
    # Annotations have time of their own here; at HTA they are no part of the graph.
    annotations = {event["name"] for event in events if event.get("cat") == "user_annotation"}
    names = {row["name"] for row in facts["by_operator"]} - annotations
    # What HTA marks for its beginning alone: the call has gone to its copy, and is not waited for.
    results.check("HTA simple_add operators and calls on the path", path.host - {"cudaMemcpyAsync"},
                  names)


def check_event_sync(tscope, results):
    """The host waits for an event recorded behind spin_kernel, and before for a copy."""
    report = tscope.report(FOLDER / "cuda_event_sync/event_sync_trace.json.gz")
    results.check("cuda_event_sync records", True,
                  report["facts"]["critical_path"]["sync_is_recorded"])
    kernels = program.rows_by_name(report, "critical_path", "by_kernel", "count", "total_ns")
    results.check("cuda_event_sync device events on the path", {
        "at::cuda::(anonymous namespace)::spin_kernel(long)": (1, 36000),
        "Memcpy DtoH (Device -> Pageable)": (1, 2000),
    }, kernels)


def check_multi_stream(tscope, results):
    """Three equal kernels on three streams; the host waits for the last one alone."""
    report = tscope.report(FOLDER / "cuda_event_sync_multi_stream/event_sync_trace.json.gz")
    kernels = program.rows_by_name(report, "critical_path", "by_kernel", "count", "total_ns")
    results.check("cuda_event_sync_multi_stream device events on the path",
                  {"ampere_sgemm_128x64_nn": (1, 123000)}, kernels)


def main():
    program.need(FOLDER)
    tscope = program.Program(sys.argv[1])
    results = program.Results(prints_all="--all" in sys.argv)
    check_simple_add(tscope, results)
    check_event_sync(tscope, results)
    check_multi_stream(tscope, results)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
