#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sums of times and bytes that an input chose do not overflow: what is an int64_t is added to by
tsi_sum() or tsi_sum_signed() (base/sum.h), not by +=. All times of a trace are within 126
years of the epoch (model/trace/build.h), so that pieces that do not overlap cannot: BOUNDED.

usage: check_sums.py SOURCE_ROOT
"""
import pathlib
import re
import sys

# Pieces of a trace's time that do not overlap (or sums that a comment there proves to fit), and
# what is a double by a declaration elsewhere.
BOUNDED = {
    "src/analyze/ops/op_walk.c children_ns", "src/analyze/shared/nest.c children_ns",
    "src/analyze/trace/python_stalls.c sum_ns", "src/model/memory/host_sites.c growth_bytes",
    "src/timeline/activity.c busy_ns", "src/timeline/device_walk.h line_ns",
    "src/timeline/host_budget.c taken_ns", "src/timeline/idle_walk.c sum_ns",
    "src/timeline/interval.c length_ns", "src/timeline/interval.c common_ns",
    "src/timeline/interval.c within_ns", "src/timeline/steps.c overhead_ns",
    "src/analyze/ranks/kernel_changes.c work_ns", "src/analyze/ranks/kernel_changes.c other_ns",
    "src/report/section_findings.c idle_ns",
    "src/rules/idle_finding.c sum_ns", "src/rules/gain.c granted_ns", "src/rules/gain.c sum_ns",
}
ADDED = re.compile(r"\b(\w+_(?:ns|bytes))(?:\[\w+\])? \+= ")
TYPE = r"\b(int64_t|double|tsi_wide|uint64_t|size_t|uint32_t) (?:[^;(){}]*[\s*])?"


def type_of(name, text, headers):
    """As the nearest declaration before the end of the text has it, else one of a header."""
    pattern = re.compile(TYPE + name + r"\b")
    for declarations in (pattern.findall(text), pattern.findall(headers)):
        if declarations:
            return declarations[-1]
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    headers = "".join(path.read_text() for path in sorted(root.glob("src/**/*.h")))
    failed = 0
    for path in sorted(root.glob("src/**/*.[ch]")):
        text = path.read_text()
        for added in ADDED.finditer(text):
            end = text.index("\n", added.start())
            line = text[text.rindex("\n", 0, added.start()) + 1:end].strip()
            place = f"{path.relative_to(root)} {added[1]}"
            kind = type_of(added[1], text[:added.start()], headers)
            if kind == "int64_t" and place not in BOUNDED:
                print(f"{path.relative_to(root)}:{text.count(chr(10), 0, end) + 1}: {line}: "
                      f"use tsi_sum()")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
