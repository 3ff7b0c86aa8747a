#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tscope on every file of the shared folder: traces must give a report that accounts for
every event, anything else must be refused with exit 3 by its right name.

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
NOT_INPUTS = ("LICENSES/", "files.tsv", "reference.tsv", "MANIFEST.md")
# What a refusal must say, by what the file is: the first pattern that fits its path decides.
REFUSALS = (
    (r"\.(xlsx|zip)$", "zip archive"),
    (r"memray-.*\.bin$", "memray capture"),
    (r"\.pickle$", "pickle"),
    (r"/et\.json$", "execution trace"),
    (r"/mtl\.|memory_timeline\.raw", "memory timeline"),
    (r"\.json$|\.jsonl$|\.gz$", r"without traceEvents|none of|only|never"),
    (r".", "not a trace|nothing but white space"),
)
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


def holds_work(path):
    """Is it a trace with work in it, as an independent reader sees it?"""
    try:
        events = traces.read(path).events
    except (traces.NotATrace, UnicodeError):
        return False
    return any(is_work(event) for event in events)


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


def problems_of_report(report):
    if not report["facts"]:
        yield "a report without facts"
    if unexplained_events(report) > 0:
        yield f"{unexplained_events(report)} events are neither kept nor counted as dropped"
    yield from sorted(set(wrong_values(report["facts"])))[:5]
    yield from unequal_sums(report["facts"])


def problems_of_refusal(path, message):
    if holds_work(path):
        yield "a trace was refused"
        return
    wanted = next(words for pattern, words in REFUSALS if re.search(pattern, program.short(path)))
    if not re.search(wanted, message, re.IGNORECASE):
        yield f"the message does not name what it is ({wanted})"


def check_file(tscope, path):
    """Returns the file's row of the table and the list of what is wrong."""
    try:
        done = tscope.run("trace", "--format", "json", path)
    except subprocess.TimeoutExpired:
        return [program.short(path), *[""] * 7], ["time limit"]
    message = done.stderr.decode(errors="replace").strip()
    columns, problems = ["", "", "", "", ""], []
    if done.returncode == 0:
        report = json.loads(done.stdout)
        columns = describe_report(report)
        problems = list(problems_of_report(report))
    elif done.returncode == 3:
        problems = list(problems_of_refusal(path, message))
    else:
        problems = [f"exit {done.returncode}"]
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
