#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time by module and by function of real traces with stacks, against a plain reading of the events:
for each kernel and each ns of a thread the frames around it are looked for one by one. Backward
work against autograd's own arrows (category fwdbwd) where the trace has them.

usage: check_modules.py TSCOPE
"""
import bisect
import collections
import gzip
import json
import re
import sys

import program

MODULE = "nn.Module: "


def read(path):
    data = path.read_bytes()
    try:
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if data.count(b'"nn.Module: ') < 20:
            return None
        return json.loads(data, strict=False)
    except (ValueError, OSError, EOFError):
        return None  # what only tscope reads


def ns(value):
    return int(round(float(value) * 1000))


class Threads:
    """Spans by thread, nested: each ends no later than that around it."""

    def __init__(self, events):
        self.rows = collections.defaultdict(list)
        for number, event in enumerate(events):
            if event.get("ph") == "X" and event.get("cat") in ("python_function", "cpu_op"):
                start = ns(event["ts"])
                self.rows[str(event["tid"])].append(
                    (start, -ns(event["dur"]), number, event["cat"], event["name"],
                     event.get("args", {})))
        for rows in self.rows.values():
            rows.sort(key=lambda row: row[:3])

    def walk(self, tid, until):
        """The spans that are open after each change, outermost first."""
        stack = []
        for row in self.rows[tid]:
            while stack and stack[-1][0] <= row[0]:
                end = stack.pop()[0]
                yield end, stack
            end = min(row[0] - row[1], stack[-1][0] if stack else row[0] - row[1])
            stack.append((end, row))
            yield row[0], stack
        while stack:
            end = stack.pop()[0]
            yield end, stack
        yield until, []


def is_node(row):
    return row[3] == "cpu_op" and int(row[5].get("Fwd thread id") or 0) > 0


def forward_places(threads, autograd, until):
    """Place by (thread, sequence number) of the last operator that has it."""
    found = {}
    for tid in threads.rows:
        if tid in autograd:
            continue
        for _, stack in threads.walk(tid, until):
            if stack and stack[-1][1][3] == "cpu_op":
                args = stack[-1][1][5]
                if "Sequence number" in args and not is_node(stack[-1][1]):
                    found[tid, args["Sequence number"]] = place_of(stack, {}, ())
    return found


def place_of(stack, forward, known):
    """Modules around, by the frames alone: those of a node of the backward pass come before."""
    path, inherited = [], False
    for _, row in stack:
        if is_node(row):
            key = row[5].get("Sequence number")
            if key in forward:
                path, inherited = list(forward[key]), True
        elif row[3] == "python_function" and row[4].startswith(MODULE):
            if inherited:
                for end in range(len(path), -1, -1):
                    if (*path[:end], row[4]) in known:
                        path = path[:end]
                        break
            path.append(row[4])
            inherited = False
    return tuple(path)


def lines_of(threads, forward, known, until):
    """By thread: the times from which on it is in a place."""
    lines = {}
    for tid in threads.rows:
        starts, places = [], []
        for start, stack in threads.walk(tid, until):
            starts.append(start)
            places.append(place_of(stack, forward, known))
        lines[tid] = (starts, places)
    return lines


def device_times(events, lines, windows):
    calls, times = {}, collections.Counter()
    for event in events:
        if event.get("cat") in ("cuda_runtime", "cuda_driver"):
            calls[event.get("args", {}).get("correlation")] = event
    for event in events:
        if event.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        call = calls.get(event["args"].get("correlation"))
        at = ns(call["ts"] if call else event["ts"])
        if not any(start <= at < end for start, end in windows):
            continue
        path = ()
        if call and str(call["tid"]) in lines:
            starts, places = lines[str(call["tid"])]
            index = bisect.bisect_right(starts, at) - 1
            path = places[index] if index >= 0 else ()
        times[path] += ns(event["dur"])
    return times


def memory_events(events):
    """What came and went on the device that peaks highest, in the order of time."""
    devices = collections.defaultdict(list)
    for event in events:
        args = event.get("args", {})
        if event.get("name") == "[memory]" and args.get("Device Type", 0) and "Addr" in args:
            devices[args["Device Id"]].append((ns(event["ts"]), str(event["tid"]), args))
    for rows in devices.values():
        rows.sort(key=lambda row: row[0])
    return max(devices.values(), default=[],
               key=lambda rows: max(row[2]["Total Allocated"] for row in rows))


def peak_bytes(rows, lines, windows):
    """The bytes by place of the blocks that live at the peak; None: what was there before."""
    ends = [row[0] for row in rows[1:]] + [2 ** 62]
    peak = max((number for number, row in enumerate(rows)
                if any(row[0] < end and ends[number] > start for start, end in windows)),
               key=lambda number: (rows[number][2]["Total Allocated"], -number))
    live, sums = {}, collections.Counter()
    for row in rows[:peak + 1]:
        live.pop(row[2]["Addr"], None)
        if row[2]["Bytes"] > 0:
            live[row[2]["Addr"]] = row
    for at, tid, args in live.values():
        starts, places = lines.get(tid, ([], []))
        index = bisect.bisect_right(starts, at) - 1
        sums[places[index] if index >= 0 else ()] += args["Bytes"]
    return sums, rows[peak][2]["Total Allocated"]


def check_peak(results, label, facts, sums, total):
    results.check(f"{label}: peak of memory", total, facts["peak_bytes"])
    results.check(f"{label}: at the peak, from before", total - sum(sums.values()),
                  facts["peak_unrecorded_bytes"])
    actual, expected = collections.Counter(), by_class(sums)
    for row in facts["by_module"]:
        name = "" if row["name"] == "(outside modules)" else classes(row["name"])
        actual[name] += row["self_peak_bytes"]
    for name in sorted({*(name for name, held in actual.items() if held), *expected}):
        results.check(f"{label}: at the peak, {name or 'no module'}", expected.get(name),
                      actual.get(name))


def classes(path):
    return re.sub(r"(\.\*(\(\d+\))?|\[\d+\])", "", path)


def by_class(times):
    """The rows of repeated layers and of places among siblings put together."""
    sums = collections.Counter()
    for path, time in times.items():
        sums[".".join(re.sub(r"_\d+$", "", name[len(MODULE):]) for name in path)] += time
    return {path: time for path, time in sums.items() if time}


def windows_of(facts):
    steps = facts["steps"]["list"]
    counted = [step for step in steps if not step["mark"]] or steps
    return [(step["start_ns"], step["start_ns"] + step["wall_ns"]) for step in counted]


def check_arrows(results, label, events, threads, forward):
    """Autograd's arrows lead from the place that the sequence number says."""
    begins = {event["id"]: event for event in events
              if event.get("cat") == "fwdbwd" and event["ph"] == "s"}
    ends = [event for event in events if event.get("cat") == "fwdbwd" and event["ph"] == "f"]
    lines = lines_of(threads, {}, (), 2 ** 62)
    rows = {(tid, row[0]): row for tid, found in threads.rows.items() for row in found
            if row[3] == "cpu_op"}
    wrong = checked = 0
    for end in ends:
        begin, node = begins.get(end["id"]), rows.get((str(end["tid"]), ns(end["ts"])))
        if not begin or not node or node[5].get("Sequence number") not in forward:
            continue
        starts, places = lines[str(begin["tid"])]
        index = bisect.bisect_right(starts, ns(begin["ts"])) - 1
        checked += 1
        wrong += places[index] != forward[node[5]["Sequence number"]]
    if checked:
        results.check(f"{label}: arrows that lead elsewhere, of {checked}", 0, wrong)


def check(results, tscope, path):
    trace = read(path)
    if trace is None or not isinstance(trace, dict):
        return
    facts = tscope.report(path)["facts"]
    events, label = trace["traceEvents"], program.short(path)
    threads = Threads(events)
    autograd = {tid for tid, rows in threads.rows.items()
                if next((is_node(row) for row in rows if row[3] == "cpu_op" and
                         int(row[5].get("Sequence number", -1)) >= 0), False)}
    found = forward_places(threads, autograd, 2 ** 62)
    tids = {tid for tid, _ in found}
    forward = {number: place for (_, number), place in found.items()}
    if len(tids) > 1:
        return  # which thread a node means is not written
    known = {place[:end] for tid in threads.rows if tid not in autograd
             for _, stack in threads.walk(tid, 2 ** 62)
             for place in [place_of(stack, {}, ())] for end in range(len(place) + 1)}
    lines = lines_of(threads, forward, known, 2 ** 62)
    windows = windows_of(facts)
    device = by_class(device_times(events, lines, windows))
    rows = facts["modules"]["by_module"]
    actual = collections.Counter()
    for row in rows:
        name = "" if row["name"] == "(outside modules)" else classes(row["name"])
        actual[name] += row["self_device_ns"] or 0
    actual = {name: time for name, time in actual.items() if time}
    for name in sorted({*actual, *device}):
        results.check(f"{label}: device time of {name or 'no module'}", device.get(name),
                      actual.get(name))
    for total, own in (("device_ns", "self_device_ns"), ("host_ns", "self_host_ns")):
        if facts["modules"][total] is not None:
            results.check(f"{label}: sum of {own}", facts["modules"][total],
                          sum(row[own] for row in rows))
    memory = memory_events(events)
    if memory:
        check_peak(results, label, facts["modules"], *peak_bytes(memory, lines, windows))
    check_arrows(results, label, events, threads, forward)


def main():
    tscope = program.Program(sys.argv[1])
    program.need(program.DATA)
    results = program.Results()
    for path in sorted(program.DATA.rglob("*.json*")):
        if path.suffix in (".json", ".gz") and path.stat().st_size < 2_500_000:
            check(results, tscope, path)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
