#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tscope on every file of the shared folder: traces must give a report that accounts for
every event and has the facts of their kind, files about memory must be read by `tscope memory`,
anything else must be refused with exit 3 by its right name.

usage: check_all_files.py TSCOPE [--markdown]
"""
import json
import pathlib
import re
import subprocess
import sys

import program
import traces

BUDGET_LINES = ("compute", "exposed_comm", "exposed_copy", "data_stall", "sync_stall",
                "launch_stall", "device_gap", "unattributed")
TIMES_OF_PHASE = {"X": ("ts", "dur"), "B": ("ts",)}
ABOVE_ONE = ("p95_p50_ratio",)
NOT_INPUTS = ("LICENSES/", "files.tsv", "reference.tsv", "verdicts-dev.tsv", "MANIFEST.md", "VERDICTS.md")
# What each file is: the first pattern that fits its path decides. `tscope memory` finds these facts
# in it, or refuses it, too; and `tscope trace` refuses it with these words. Where there are no
# words, it is a trace if an independent reader finds work in it.
KINDS = (
    (r"memray-.*\.bin$", "host_memory", "memray capture.*tscope memory"),
    (r"\.(pickle|pkl)$", "snapshot", "pickle.*tscope memory"),
    (r"/mtl\.(json|raw)|memory_timeline\.raw", "memory_timeline", "memory timeline.*tscope memory"),
    (r"/et\.json$", None, "execution trace"),
    (r"\.xlsx$", None, "zip archive"),
    (r"\.zip$", None, None),
    (r"\.csv$", None, "not a trace|nothing but white space"),
    (r"/table\.txt$", None, "table that a profiler printed"),
    (r"README\.txt$|\.snap$|\.yaml$", None, "not a trace"),
    (r"/result_check_w0\.jsonl$", None, "JSON lines without traceEvents"),
    (r"/(config|truth\.rank\d+|INDEX)\.json$|/(ms|mw|result)-ST\.json$", None,
     "JSON without traceEvents"),
    (r"(\.json|_gz)(\.gz|\.zst)?$", None, None),
)
NO_WORK = "without traceEvents|none of|nothing but|only|never"
HEADINGS = ("file", "events", "steps", "boundary", "dropped", "repaired or noted", "exit",
            "message")


def all_files():
    for path in sorted(program.DATA.rglob("*")):
        if path.is_file() and not program.short(path).startswith(NOT_INPUTS):
            yield path


def is_work(event):
    """Does it last? Instants, counters and async events alone are nothing to analyse."""
    fields = TIMES_OF_PHASE.get(event.get("ph")) if isinstance(event, dict) else None
    return fields and all(traces.to_ns(event.get(field)) is not None for field in fields)


def read_trace(path):
    """A trace with work in it, as an independent reader sees it, or None."""
    try:
        trace = traces.read(path)
    except (traces.NotATrace, UnicodeError):
        return None
    return trace if any(is_work(event) for event in trace.events) else None


def analyzers_of(trace):
    """Whose facts a report of this trace must have."""
    if "viztracer_metadata" in trace.metadata:
        yield "python"
    if any(isinstance(event, dict) and str(event.get("name")).startswith("callback/")
           for event in trace.events):
        yield "callbacks"


def counts(kinds):
    return ", ".join(f"{kind} {count}" for kind, count in kinds.items() if count)


def describe_report(report):
    """The table's columns of a report, from events to what was repaired."""
    source, facts = report["inputs"][0], report["facts"]
    others = {kind: count for kind, count in report["diagnostics"].items()
              if kind not in source["dropped"]}
    return [source["events"], facts["steps"]["count"], facts["steps"]["boundary"],
            counts(source["dropped"]), counts(others)]


def unexplained_events(report):
    """Elements that are neither counted under a category nor as dropped before that."""
    categories = report["facts"]["integrity"]["categories"]
    seen = sum(row["count"] for row in categories)
    return report["inputs"][0]["events"] - seen - sum(report["inputs"][0]["dropped"].values())


def wrong_values(value, name=""):
    """Names of values whose unit forbids them: times and sizes are integers, ratios 0 to 1."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "doubts":  # texts, under the names of the facts that they are about
                yield from wrong_values(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from wrong_values(inner, name)
    elif value is not None:
        is_whole = isinstance(value, int)
        if name.endswith(("_ns", "_bytes", "_count")) and not is_whole:
            yield f"{name} {value} is no integer"
        if name.endswith("_ratio") and name not in ABOVE_ONE and not 0 <= value <= 1:
            yield f"{name} {value} is not between 0 and 1"


def unequal_sums(facts):
    """What must add up: the lines of each step's budget, and the parts of a device's time."""
    busy, overlap = facts["device_busy"], facts["overlap"]
    if busy["span_ns"] is not None and busy["busy_ns"] + busy["idle_ns"] != busy["span_ns"]:
        yield "busy + idle is not the span"
    parts = (overlap["overlapped_ns"] or 0) + (overlap["exposed_ns"] or 0)
    if parts != (overlap["comm_ns"] or 0):
        yield "overlapped + exposed is not comm"
    for step in facts["steps"]["list"]:
        lines = [step[line + "_ns"] for line in BUDGET_LINES]
        if None not in lines and sum(lines) % step["wall_ns"]:
            yield f"the budget of step {step['step']} is no multiple of its wall time"


def problems_of_report(report, trace):
    if not report["facts"]:
        yield "a report without facts"
    if unexplained_events(report) > 0:
        yield f"{unexplained_events(report)} events are neither kept nor counted as dropped"
    yield from sorted(set(wrong_values(report["facts"])))[:5]
    yield from unequal_sums(report["facts"])
    for analyzer in analyzers_of(trace) if trace else ():
        if analyzer not in report["facts"]:
            yield f"a report without facts of {analyzer}"


def problems_of_refusal(words, message, trace):
    if trace and not words:
        yield "a trace was refused"
    elif not re.search(words or NO_WORK, message, re.IGNORECASE | re.DOTALL):
        yield f"the message does not name what it is ({words or NO_WORK})"


def problems_of_memory(tscope, path, analyzer):
    """`tscope memory` reads what is about memory, and nothing else."""
    done = tscope.run("memory", "--format", "json", "--full", path)
    if done.returncode != (0 if analyzer else 3):
        yield f"tscope memory: exit {done.returncode}: {done.stderr.decode().strip()}"
    elif analyzer and analyzer not in json.loads(done.stdout)["runs"][0]["facts"]:
        yield f"tscope memory: no facts of {analyzer}"


def kind_of(path):
    """What the table says, or None where it knows no such file."""
    name = program.short(path)
    return next((kind[1:] for kind in KINDS if re.search(kind[0], name)), None)


def check_file(tscope, path):
    """Returns the file's row of the table and the list of what is wrong."""
    kind = kind_of(path)
    if not kind:
        return [program.short(path), *[""] * 7], ["nobody said what it is: add it to KINDS"]
    analyzer, words = kind
    try:
        done = tscope.run("trace", "--format", "json", "--full", path)
        problems = list(problems_of_memory(tscope, path, analyzer)) if words else []
    except subprocess.TimeoutExpired:
        return [program.short(path), *[""] * 7], ["time limit"]
    message = done.stderr.decode(errors="replace").strip()
    columns, trace = [""] * 5, None if words else read_trace(path)
    if done.returncode == 0 and not words:
        report = json.loads(done.stdout)["runs"][0]
        columns = describe_report(report)
        problems += problems_of_report(report, trace)
    elif done.returncode == 3:
        problems += problems_of_refusal(words, message, trace)
    else:
        problems += [f"tscope trace: exit {done.returncode}"]
    shown = message.replace(str(path), "FILE").replace("\n", " / ")
    return [program.short(path), *columns, done.returncode, shown], problems


def print_row(cells, markdown):
    cells = [str(cell).replace("|", "\\|") for cell in cells]
    print("| " + " | ".join(cells) + " |" if markdown else "\t".join(cells))


def main():
    program.need(program.DATA)
    markdown = "--markdown" in sys.argv
    tscope = program.Program(pathlib.Path(sys.argv[1]))
    failed = []
    print_row(HEADINGS, markdown)
    if markdown:
        print_row(["---"] * len(HEADINGS), markdown)
    for path in all_files():
        row, problems = check_file(tscope, path)
        print_row(row, markdown)
        failed += [f"{row[0]}: {problem}" for problem in problems]
    print("\n".join(["", *failed, f"{len(failed)} problems"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
