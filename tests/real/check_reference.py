#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares tscope with the second implementation (reference.py), figure by figure, on every trace
of testdata/ and of the shared folder.

usage: check_reference.py TSCOPE [FILE...]
"""
import csv
import pathlib
import sys

import program
import reference
import traces

BUDGET_LINES = ("compute", "exposed_comm", "exposed_copy", "idle")
IDLE_LINES = ("data_stall", "sync_stall", "launch_stall", "device_gap", "unattributed")
HOST_LINES = ("data", "forward", "backward", "optimizer", "comm", "other")
DEVICE_FACTS = {
    "device_busy": ("span_ns", "busy_ns", "idle_ns", "compute_ns", "comm_ns", "copy_ns"),
    "overlap": ("comm_ns", "overlapped_ns", "exposed_ns"),
}
# The program mends these by rules that the second implementation does not have.
MENDED = ("impossible_duration", "unmatched_begin")


def shared_traces():
    """Every file that files.tsv calls JSON with trace events."""
    with open(program.DATA / "files.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["kind"] == "json" and row["form"] in ("object", "array", ""):
                yield program.DATA / row["file"]


def all_traces():
    yield from sorted(program.TESTDATA.glob("*.json*"))
    if program.DATA.exists():
        yield from shared_traces()


def compare_tables(results, label, expected, found):
    for name in sorted(set(expected) | set(found)):
        results.check(f"{label} {name[:60]}", expected.get(name), found.get(name))


def compare_steps(results, label, ours, report):
    if report["facts"]["steps"]["boundary"] != "profiler_step":
        return
    listed = report["facts"]["steps"]["list"]
    results.check(label + " steps", ours.steps(),
                  [(s["step"], s["start_ns"], s["dur_ns"], s["wall_ns"]) for s in listed])
    results.check(label + " steps' device events", ours.launched_counts(),
                  [step["device_events"] for step in listed])
    if ours.device_rows:
        lines, budgets = BUDGET_LINES, [ours.budget(device) for device in sorted(ours.by_device)]
    else:
        lines, budgets = HOST_LINES, [ours.host_budget()]
    for index, step in enumerate(listed):
        if ours.device_rows:
            step["idle_ns"] = sum(step[line + "_ns"] for line in IDLE_LINES)
        for line in lines:
            results.check(f"{label} step {step['step']} {line}_ns",
                          sum(budget[index][line] for budget in budgets), step[line + "_ns"])


def compare(results, path, report, ours):
    label = program.short(path)
    facts = report["facts"]
    totals = ours.device_facts()
    for analyzer, names in DEVICE_FACTS.items():
        for name in names:
            results.check(f"{label} {analyzer}.{name}", totals[name],
                          facts.get(analyzer, {}).get(name) or 0)
    columns = ("count", "total_ns")
    compare_tables(results, label + " kernels", ours.by_name(("kernel", "comm")),
                   program.rows_by_name(report, "kernels", "by_name", *columns))
    compare_tables(results, label + " copies", ours.by_name(("memcpy", "memset")),
                   program.rows_by_name(report, "copies", "by_name", *columns))
    compare_tables(results, label + " operators", ours.operators(),
                   program.rows_by_name(report, "operators", "by_name", *columns, "self_ns",
                                        "device_ns"))
    compare_steps(results, label, ours, report)


def check_file(tscope, results, path):
    try:
        trace = traces.read(path)
        report = tscope.report(path)
    except (traces.NotATrace, RuntimeError):
        return  # check_all_files.py says whether that is right
    results.check(program.short(path) + " events", len(trace.events),
                  report["inputs"][0]["events"])
    mended = [kind for kind in MENDED if report["diagnostics"].get(kind)]
    if mended:
        print(f"not compared: {program.short(path)}: {', '.join(mended)}")
        return
    compare(results, path, report, reference.Reference(trace))


def main():
    tscope = program.Program(sys.argv[1])
    results = program.Results()
    for path in map(pathlib.Path, sys.argv[2:] or all_traces()):
        check_file(tscope, results, path)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
