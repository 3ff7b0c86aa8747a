#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python functions and pauses of the garbage collector of VizTracer's traces, as JSON and as the
page that VizTracer would make of it: of random programs against what these know, and of every
such trace in the shared folder against viztracer.py.

usage: check_viztracer.py TSCOPE [COUNT [FIRST_SEED]]
"""
import gzip
import pathlib
import sys
import tempfile

import program
import traces
import viztracer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import make_viztracer  # noqa: E402 (found by the path above)

COLUMNS = ("count", "self_ns", "total_ns")


def viztracer_traces():
    """Every trace of the shared folder that VizTracer marks as its own; none without a folder."""
    for path in sorted(program.DATA.rglob("*.json*")):
        try:
            trace = traces.read(path)
        except (traces.NotATrace, UnicodeError):
            continue
        if "viztracer_metadata" in trace.metadata:
            yield path


def compare(results, label, facts, functions, report):
    python = report["facts"].get("python", {})
    for name, expected in facts.items():
        results.check(f"{label} python.{name}", expected, python.get(name))
    found = program.rows_by_name(report, "python", "by_name", *COLUMNS)
    for name in sorted(set(functions) | set(found)):
        results.check(f"{label} {name}", functions.get(name), found.get(name))


def check_forms(tscope, results, label, text, facts, functions):
    """The same trace as JSON, as a page and as a packed page."""
    page = viztracer.page(text).encode()
    forms = {".json": text.encode(), ".html": page, ".html.gz": gzip.compress(page, 1)}
    with tempfile.TemporaryDirectory() as folder:
        for ending, data in forms.items():
            path = pathlib.Path(folder) / ("rank0" + ending)
            path.write_bytes(data)
            try:
                report = tscope.report(path)
            except RuntimeError as error:
                if ": this build " not in str(error):  # of a codec that it lacks
                    results.check(label + ending, "a report", str(error))
            else:
                compare(results, label + ending, facts, functions, report)


def check_program(tscope, results, seed):
    text, functions, pauses = make_viztracer.make(seed)
    facts = {"call_count": sum(count for count, _, _ in functions.values()),
             "function_count": len(functions), "gc_count": len(pauses),
             "gc_total_ns": sum(pauses), "gc_max_ns": max(pauses, default=None),
             "self_ns": sum(own for _, own, _ in functions.values())}
    check_forms(tscope, results, f"seed {seed}", text, facts, functions)


def check_file(tscope, results, path):
    events = traces.read(path).events
    check_forms(tscope, results, program.short(path), traces.read_bytes(path)[0].decode(),
                viztracer.facts(events), viztracer.functions(events))


def main():
    tscope = program.Program(sys.argv[1])
    results = program.Results()
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for seed in range(first, first + (int(sys.argv[2]) if len(sys.argv) > 2 else 30)):
        check_program(tscope, results, seed)
    for path in viztracer_traces():
        check_file(tscope, results, path)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
