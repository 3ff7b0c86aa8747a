#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The captures of memray in the shared folder: what memray itself said of them (their README.txt
has it), and every other figure as the plain reader in tests/reference has it.

usage: check_memray.py TSCOPE
"""
import pathlib
import sys

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import compare_memray  # noqa: E402 (found by the path above)

STREAM = {"allocation_count": 39, "allocated_bytes": 14796228, "peak_bytes": 4900052,
          "leaked_bytes": 370371}
AGGREGATED = {"peak_bytes": 4900052, "peak_allocation_count": 20, "leaked_bytes": 370371,
              "leaked_count": 3, "allocation_count": None, "allocated_bytes": None}
PUBLISHED = {
    "stream_raw": STREAM, "stream_lz4": STREAM, "stream_native": STREAM,
    "stream_pyalloc": {"allocation_count": 147, "allocated_bytes": 14803996,
                       "peak_bytes": 4902076, "leaked_bytes": 370739},
    "agg": AGGREGATED, "agg_native": AGGREGATED,
}
PUBLISHED_SITES = {"/tmp/mr.py:11:inner": 9000099, "/tmp/mr.py:13:work": 3145728}
PUBLISHED_COUNTS = {"malloc": 33, "calloc": 3, "mmap": 3}


def check_published(results, name, facts):
    for fact, expected in PUBLISHED[name].items():
        results.check(f"{name} {fact}", expected, facts.get(fact))
    if PUBLISHED[name] is not STREAM:
        return
    sizes = {row["site"]: row["total_bytes"] for row in facts["by_bytes"]}
    counts = {row["allocator"]: row["count"] for row in facts["by_allocator"]}
    for site, expected in PUBLISHED_SITES.items():
        results.check(f"{name} {site}", expected, sizes.get(site))
    results.check(f"{name} allocators", PUBLISHED_COUNTS, counts)


def main():
    folder = program.need(program.DATA / "made-here")
    tscope = compare_memray.compare_memory.Program(sys.argv[1])
    results = program.Results()
    paths = sorted(folder.glob("memray-*/*.bin"))
    results.check("captures", sorted(PUBLISHED), sorted({path.stem for path in paths}))
    for path in paths:
        try:
            facts = tscope.facts(path)["host_memory"]
        except compare_memray.compare_memory.NotBuiltIn:
            continue
        except RuntimeError as error:
            results.check(program.short(path), "a report", error)
            continue
        check_published(results, path.stem, facts)
        truth = compare_memray.memray_reader.read(path)
        found = compare_memray.differences(compare_memray.memray_figures.figures(truth), facts)
        for place, expected, actual in found:
            results.check(f"{path.stem} {place}", expected, actual)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
