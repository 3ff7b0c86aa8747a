#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares tscope with traces whose truth is known: generated ones, of every style and machine.
All figures are exact, to the ns.

usage: check_truth.py TSCOPE
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import program

STYLES = ("classic", "kineto2026", "compact")
EXTRAS = {
    "plain": [],
    "full": ["--python-stack", "--record-shapes", "--memory"],
}
# Beside every style with and without extras: one option at a time.
VARIATIONS = [
    *(["--gpu", gpu] for gpu in ("V100", "A100", "H100", "H200", "B200", "MI300X")),
    ["--clock-skew-us", "500", "--ranks", "2"],
    ["--overlap", "0"],
    ["--overlap", "0.8"],
    ["--buckets", "0"],
    ["--dataloader-stall", "30"],
    ["--straggler", "0:20", "--ranks", "2"],
    ["--compress", "gz", "--python-stack"],
    ["--compress", "zst", "--style", "compact"],
    ["--layout", "hta", "--flops"],
    ["--first-step", "0", "--steps", "1"],
]
BUDGET_LINES = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "data_stall_ns",
                "sync_stall_ns", "launch_stall_ns", "device_gap_ns", "unattributed_ns")


def option_lists():
    for style in STYLES:
        for extra in EXTRAS.values():
            yield ["--style", style, *extra]
    for variation in VARIATIONS:
        if "zst" in variation and not shutil.which("zstd"):
            print("not generated: zst, the generator needs the program zstd")
            continue
        yield variation


def generate(folder, options):
    """Writes a run and returns its truth."""
    base = ["--steps", "3", "--events-per-step", "900"]
    subprocess.run([sys.executable, program.SHARED / "tools" / "gen_trace.py", folder,
                    *base, *options], check=True, capture_output=True)
    return json.loads((folder / "truth.json").read_text())


def check_steps(results, label, rank, facts):
    """Step numbers, starts and durations; and that each budget sums to its window."""
    expected = [(number, start, rank["variants"][variant]["step"])
                for number, variant, start in rank["steps"]]
    steps = facts["steps"]["list"]
    results.check(label + " steps", expected,
                  [(s["step"], s["start_ns"], s["dur_ns"]) for s in steps])
    results.check(label + " steps.count", len(expected), facts["steps"]["count"])
    results.check(label + " boundary", "profiler_step", facts["steps"]["boundary"])
    for step in steps:
        results.check(f"{label} step {step['step']} budget", step["wall_ns"],
                      sum(step[line] for line in BUDGET_LINES))


def check_device(results, label, totals, facts):
    """Sums over the whole trace: all of a step's device work lies inside its marker."""
    busy, overlap = facts["device_busy"], facts["overlap"]
    marked_ns = sum(step["dur_ns"] for step in facts["steps"]["list"])
    results.check(label + " compute", totals["compute"], busy["compute_ns"])
    results.check(label + " comm", totals["comm"], overlap["comm_ns"])
    results.check(label + " overlapped", totals["comm_overlap"], overlap["overlapped_ns"])
    results.check(label + " exposed", totals["comm_exposed"], overlap["exposed_ns"])
    results.check(label + " copy", totals["memory"], busy["copy_ns"])
    results.check(label + " busy", totals["busy"], busy["busy_ns"])
    results.check(label + " idle", totals["idle"], marked_ns - busy["busy_ns"])


def table(report, analyzer, *columns):
    rows = program.rows_by_name(report, analyzer, "by_name", *columns)
    return {name: list(figures) for name, figures in rows.items()}


def check_tables(results, label, rank, report):
    columns = ("count", "total_ns")
    device = {**table(report, "kernels", *columns), **table(report, "copies", *columns)}
    results.check(label + " kernels", rank["kernels"], device)
    results.check(label + " operators", rank["ops"],
                  table(report, "operators", *columns, "self_ns"))
    results.check(label + " annotations", rank["annotations"], table(report, "spans", *columns))


def check_events(results, label, rank, report):
    categories = report["facts"]["integrity"]["categories"]
    results.check(label + " events by category",
                  {name: count for name, count in rank["events"].items() if name != "total"},
                  {f"{row['phase']}/{row['category'] or ''}": row["count"] for row in categories})
    results.check(label + " events", rank["events"]["total"], report["inputs"][0]["events"])
    results.check(label + " bytes", rank["bytes"], report["inputs"][0]["bytes"])
    results.check(label + " dropped", 0, sum(report["inputs"][0]["dropped"].values()))


def check_report(results, label, rank, report):
    """A report of one rank against the rank's truth. tests/bench uses this, too."""
    check_events(results, label, rank, report)
    check_steps(results, label, rank, report["facts"])
    check_device(results, label, rank["totals"], report["facts"])
    check_tables(results, label, rank, report)


def check_run(tscope, results, folder, options):
    truth = generate(folder, options)
    for rank in truth["ranks"]:
        label = " ".join(options) + f" rank {rank['rank']}"
        check_report(results, label, rank, tscope.report(folder / rank["file"]))


def main():
    program.need(program.SHARED / "tools" / "gen_trace.py")
    tscope = program.Program(sys.argv[1])
    results = program.Results()
    for options in option_lists():
        with tempfile.TemporaryDirectory() as folder:
            check_run(tscope, results, pathlib.Path(folder), options)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
