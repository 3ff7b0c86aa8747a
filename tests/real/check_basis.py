#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What must hold in the report of every trace, whatever it is of: parts sum to their whole, nothing
is more than what it is a part of, and no figure stands without what it is made of.

usage: check_basis.py TSCOPE [FILE...]
"""
import pathlib
import sys

import check_reference
import program


def check_operators(results, label, facts):
    device_ns = facts["device_busy"]["event_ns"] or 0
    operators = facts["operators"]
    results.check(f"{label} operators.device_ns within that of the device", True,
                  (operators["device_ns"] or 0) <= device_ns)
    for row in operators["by_name"]:
        results.check(f"{label} {row['name'][:60]} within the device's time", True,
                      row["self_device_ns"] <= row["device_ns"] <= device_ns)


def check_phases(results, label, facts):
    budget = facts["budget"]
    if budget["compute_total_ns"] is not None:
        results.check(f"{label} budget.phase", budget["compute_total_ns"],
                      sum(part or 0 for part in budget["phase"].values()))


def check_kernels(results, label, facts):
    kernels, flops = facts["kernels"], facts["flops"]
    kinds = {row["kind"]: row["total_ns"] for row in kernels["by_kind"]}
    results.check(f"{label} kernels.by_kind", kernels["total_ns"] or 0, sum(kinds.values()))
    results.check(f"{label} flops.matrix_ns within that of kernels", True,
                  (flops["matrix_ns"] or 0) <= (kernels["total_ns"] or 0))
    results.check(f"{label} flops.uncounted", flops["uncounted_ns"] or 0,
                  sum(row["total_ns"] for row in flops["uncounted"]))
    if flops["coverage_ratio"] is not None:
        covered_ns = flops["coverage_ratio"] * flops["matrix_ns"]
        results.near(f"{label} covered and uncounted", flops["matrix_ns"],
                     covered_ns + flops["uncounted_ns"], 1)


def check_links(results, label, report):
    integrity = report["facts"]["integrity"]
    linked = sum(integrity[f"linked_by_{way}_count"]
                 for way in ("correlation", "flow", "external_id"))
    results.check(f"{label} linked and unlinked", integrity["device_event_count"],
                  linked + integrity["unlinked_count"])
    results.check(f"{label} link_basis", linked > 0, report["trace"]["link_basis"] is not None)


# A figure, and what it cannot be without.
BASES = (
    ("efficiency.mfu", ("efficiency.flops_per_step", "efficiency.flops_source",
                        "efficiency.peak_flops", "efficiency.peak_source")),
    ("efficiency.achieved_tflops", ("efficiency.flops_per_step",)),
    ("kernels.sm_efficiency_ratio", ("kernels.small_grid_count",)),
    ("launches.host_bound_ratio", ("integrity.link_basis",)),
    ("launches.queued_ratio", ("integrity.link_basis",)),
)


def value_of(facts, name):
    analyzer, fact = name.split(".")
    return facts.get(analyzer, {}).get(fact)


def check_bases(results, label, facts):
    for figure, bases in BASES:
        if value_of(facts, figure) is not None:
            for base in bases:
                results.check(f"{label} {figure} has {base}", True,
                              value_of(facts, base) is not None)


def check_file(tscope, results, path):
    try:
        report = tscope.report(path)
    except RuntimeError:
        return  # check_all_files.py says whether that is right
    label, facts = program.short(path), report["facts"]
    check_operators(results, label, facts)
    check_phases(results, label, facts)
    check_kernels(results, label, facts)
    check_links(results, label, report)
    check_bases(results, label, facts)


def main():
    tscope = program.Program(sys.argv[1])
    program.need(program.DATA)
    results = program.Results()
    for path in map(pathlib.Path, sys.argv[2:] or check_reference.all_traces()):
        check_file(tscope, results, path)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
