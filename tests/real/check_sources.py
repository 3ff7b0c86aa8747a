#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device time by line of the user's code of real traces whose operators carry call stacks, against a
plain reading: the innermost operator with a line of the user's around each launch, and for the
backward pass that of the forward operator with the same sequence number.

usage: check_sources.py TSCOPE
"""
import bisect
import collections
import gzip
import json
import sys

import program

NOBODY = "(outside the user's code)"
OPERATORS, CALLS = ("Operator", "cpu_op"), ("Runtime", "cuda_runtime")
DEVICE = ("Kernel", "Memcpy", "Memset", "kernel", "gpu_memcpy", "gpu_memset")


def read(path):
    data = path.read_bytes()
    try:
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if b'"Call stack": "' not in data:
            return None
        return json.loads(data, strict=False)
    except (ValueError, OSError, EOFError):
        return None  # what only tscope reads


def ns(value):
    return int(round(float(value) * 1000))


def line_of(event):
    for frame in (event["args"].get("Call stack") or "").split(";"):
        file, separator, _ = frame.strip().partition("(")
        if separator and not file.startswith(("torch/", "<")) and "site-packages" not in file:
            return frame.strip()
    return None


def is_node(event):
    return int(event["args"].get("Fwd thread id") or 0) > 0


def walk(operators):
    """What is open after each change, outermost first."""
    stack = []
    for start, _, event in sorted(operators, key=lambda row: row[:2]):
        while stack and stack[-1][0] <= start:
            end = stack.pop()[0]
            yield end, stack
        end = start + ns(event["dur"])
        stack.append((min(end, stack[-1][0]) if stack else end, event))
        yield start, stack
    while stack:
        end = stack.pop()[0]
        yield end, stack


def place(stack, forward):
    found = None
    for _, event in stack:
        if is_node(event):
            found = forward.get(event["args"].get("Sequence number"), found)
        found = line_of(event) or found
    return found


def places(events):
    """By thread: times from which on it is at a line."""
    threads, forward, lines = collections.defaultdict(list), {}, {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in OPERATORS:
            start = ns(event["ts"])
            threads[event["tid"]].append((start, -ns(event["dur"]), event))
    backward = {tid for tid, rows in threads.items() if any(is_node(row[2]) for row in rows)}
    for tid in threads.keys() - backward:
        for _, stack in walk(threads[tid]):
            if stack and int(stack[-1][1]["args"].get("Sequence number", -1)) >= 0:
                forward[stack[-1][1]["args"]["Sequence number"]] = place(stack, {})
    for tid, operators in threads.items():
        points = [(now, place(stack, forward)) for now, stack in walk(operators)]
        lines[tid] = ([now for now, _ in points], [line for _, line in points])
    return lines


def times(events, lines, windows):
    calls = {event["args"]["correlation"]: event for event in events
             if event.get("cat") in CALLS and "correlation" in event.get("args", {})}
    sums = collections.Counter()
    for event in events:
        if event.get("cat") not in DEVICE:
            continue
        call = calls.get(event["args"].get("correlation"))
        at = ns((call or event)["ts"])
        if not any(start <= at < end for start, end in windows):
            continue
        starts, found = lines.get(call["tid"] if call else None, ((), ()))
        index = bisect.bisect_right(starts, at) - 1
        sums[(found[index] if index >= 0 else None) or NOBODY] += ns(event["dur"])
    return {line: time for line, time in sums.items() if time}


def check(results, tscope, path):
    trace = read(path)
    if not isinstance(trace, dict):
        return
    facts, label = tscope.report(path)["facts"], program.short(path)
    steps = facts["steps"]["list"]
    windows = [(step["start_ns"], step["start_ns"] + step["wall_ns"])
               for step in [step for step in steps if not step["mark"]] or steps]
    truth = times(trace["traceEvents"], places(trace["traceEvents"]), windows)
    if set(truth) <= {NOBODY}:
        return
    rows = {row["name"]: row["device_ns"] for row in facts["sources"]["by_function"]
            if row["device_ns"]}
    for line in sorted({*truth, *rows}):
        results.check(f"{label}: {line}", truth.get(line), rows.get(line))
    results.check(f"{label}: all", sum(truth.values()), facts["sources"]["device_ns"])


def main():
    tscope = program.Program(sys.argv[1])
    program.need(program.DATA)
    results = program.Results()
    for path in sorted(program.DATA.rglob("*.json*")):
        if path.suffix in (".json", ".gz") and path.stat().st_size < 30_000_000:
            check(results, tscope, path)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
