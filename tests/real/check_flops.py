#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the FLOPs that tscope counts with those of the second implementation
(reference_flops.py), operator by operator, on every trace of testdata/ and of the shared folder,
and on generated ones.

usage: check_flops.py TSCOPE [FILE...]
"""
import pathlib
import subprocess
import sys
import tempfile

import check_reference
import program
import reference
import reference_flops
import traces

GENERATOR = program.SHARED / "tools/gen_trace.py"
GENERATED = (
    ["--record-shapes", "--steps", "3"],
    ["--record-shapes", "--steps", "2", "--style", "classic", "--ranks", "2", "--memory"],
    ["--record-shapes", "--steps", "2", "--style", "compact", "--gpu", "MI300X"],
)
MATRIX_KINDS = ("gemm", "conv", "attention")
KERNEL_KINDS = (*MATRIX_KINDS, "moe")


def own_rows(report):
    """tscope's table: operator with inputs → count, repeated count, FLOPs, device time."""
    table = {}
    for row in report["facts"].get("flops", {}).get("by_operator", ()):
        figures = table.setdefault((row["name"], row["inputs"]), [0, 0, 0, 0])
        # Calls that differ in arguments by value only have rows of their own.
        for i, column in enumerate(("count", "repeated_count", "flops", "device_ns")):
            figures[i] += row[column] or 0
    return table


def matrix_keys(report):
    return {(row["name"], row["inputs"]) for row in
            report["facts"].get("flops", {}).get("by_operator", ())
            if row["kind"] in MATRIX_KINDS}


def matrix_names(report):
    """Which kernels multiply is judged by names alone; there is no second opinion."""
    return {row["name"] for row in report["facts"].get("kernels", {}).get("by_name", ())
            if row["kind"] in KERNEL_KINDS}


def device_times(ours, keys):
    """Operator with inputs → time of the device events whose nearest operator with a row it is."""
    times = {}
    for event in ours.device_rows:
        for op in reference_flops.launching_ops(event):
            key = reference_flops.Call(op).key()
            if key in keys:
                times[key] = times.get(key, 0) + event.duration
                break
    return times


def compare(results, path, report):
    ours = reference.Reference(traces.read(path))
    flops = reference_flops.Flops(ours, matrix_names(report))
    label = program.short(path)
    rows = own_rows(report)
    expected = flops.by_operator()
    times = device_times(ours, rows.keys())
    facts = report["facts"].get("flops", {})
    results.check(f"{label} flops.total", flops.total(), facts.get("total") or 0)
    results.check(f"{label} flops.repeated",
                  sum(found.flops for found in flops.ops if found.is_repeated),
                  facts.get("repeated") or 0)
    for key in sorted(set(expected) | matrix_keys(report)):
        name = f"{label} {key[0]} {key[1][:60]}"
        found = rows.get(key, [0] * 4)
        for column, one, other in zip(("count", "repeated", "FLOPs"), expected[key], found):
            results.check(f"{name} {column}", one, other)
        results.check(f"{name} device ns", times.get(key, 0), found[3])


def check_mfu(results, path, report):
    """No MFU where FLOPs are known for less than half of the time of matrix kernels."""
    facts = report["facts"].get("efficiency") or {}
    coverage = facts.get("flops_coverage_ratio")
    if coverage is None or facts.get("flops_source") != "operators":
        return
    label = program.short(path)
    if coverage < 0.5:
        results.check(f"{label} mfu at a coverage of {coverage:.3f}", None, facts["mfu"])
    elif facts["mfu"] is not None:
        results.check(f"{label} mfu_is_lower_bound at a coverage of {coverage:.3f}",
                      coverage < 0.9, facts["mfu_is_lower_bound"])


def check_file(tscope, results, path):
    try:
        report = tscope.report(path)
        check_mfu(results, path, report)
        if any(report["diagnostics"].get(kind) for kind in check_reference.MENDED):
            return
        compare(results, path, report)
    except (traces.NotATrace, RuntimeError):
        return  # check_all_files.py says whether that is right


def check_generated(tscope, results):
    if not GENERATOR.exists():
        print(f"not compared: generated traces (no {GENERATOR.name})")
        return
    for options in GENERATED:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            subprocess.run([sys.executable, str(GENERATOR), str(out), *options], check=True,
                           stdout=subprocess.DEVNULL)
            for path in sorted(out.rglob("*.json")):
                if path.name != "truth.json":
                    check_file(tscope, results, path)


def main():
    tscope = program.Program(sys.argv[1])
    results = program.Results()
    for path in map(pathlib.Path, sys.argv[2:] or check_reference.all_traces()):
        check_file(tscope, results, path)
    if not sys.argv[2:]:
        check_generated(tscope, results)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
