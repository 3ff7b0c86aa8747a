#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every file about memory in the shared folder, in the figures of tscope and of the plain readers
in tests/reference; and what others published for them.

usage: check_memory.py TSCOPE
"""
import pathlib
import re
import sys

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import compare_memory  # noqa: E402 (found by the path above)

PUBLISHED = "facebookresearch+HolisticTraceAnalysis/tests/data/memory_analysis/memory_timeline.raw.gz"
# test_memory_analysis.py of HTA: the bytes by category after the 745th of the file's times.
PUBLISHED_POINT = 744
PUBLISHED_BYTES = [102440608, 102228128, 19395584, 0, 2618160128, 58417152, 41811968, 25494440]
NAMES = re.compile(r"\.pickle$|\.pkl$|memory_timeline|^mtl\.|profile\.raw\.json|_memory_stats\.")


def files():
    for path in sorted(program.DATA.rglob("*")):
        if path.is_file() and NAMES.search(path.name) and not path.name.endswith(".truth.json"):
            yield path


def check_published(results):
    """The plain reader, which tscope must agree with, has the figures that HTA's tests have."""
    path = program.DATA / PUBLISHED
    times, sizes = compare_memory.memory_files.rows_of_raw(
        compare_memory.json.loads(compare_memory.snapshot.read_bytes(path)))
    results.check("HTA's point 744", PUBLISHED_BYTES, sizes[PUBLISHED_POINT])
    results.check("HTA's times", 7721, len(times))


def main():
    program.need(program.DATA)
    tscope = compare_memory.Program(sys.argv[1])
    results = program.Results()
    for path in files():
        try:
            found = list(compare_memory.file_differences(tscope, path))
        except RuntimeError as error:
            found = [("the report", "one", error)]
        for place, expected, actual in found[:8]:
            results.check(f"{program.short(path)}: {place}", expected, actual)
        if not found:
            results.check(program.short(path), "all figures", "all figures")
    check_published(results)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
