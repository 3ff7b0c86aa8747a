#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tscope memory` on captures of memray against memray_figures.py: on random captures of all
formats against what these were made of, or on files that are given.

usage: compare_memray.py TSCOPE [ROUNDS [FIRST_SEED]]
       compare_memray.py TSCOPE --files FILE...
"""
import datetime
import functools
import json
import sys
import tempfile

import compare_memory
import make_memray
import memray_figures
import memray_reader
import seeds

FACTS = ("command", "pid", "python_version", "capture_ns", "is_aggregated", "is_complete",
         "has_native_stacks", "traces_python_allocators", "allocation_count", "allocated_bytes",
         "peak_bytes", "peak_allocation_count", "leaked_bytes", "leaked_count", "temporary_count",
         "temporary_bytes", "thread_count", "site_count", "unmatched_free_count", "replaced_count",
         "middle_bytes", "growth_bytes", "peak_rss_bytes", "first_rss_bytes", "last_rss_bytes",
         "rss_growth_bytes", "rss_growth_ratio", "rss_growth_bytes_per_second", "rss_rising_ratio")
# Tables of sites, and what each is ranked by.
SITE_TABLES = {"by_bytes": "total_bytes", "by_count": "count", "by_peak": "peak_bytes",
               "by_leak": "leaked_bytes", "by_growth": "growth_bytes"}
# What the aggregated form does not hold.
STREAMED_COLUMNS = ("total_bytes", "count", "temporary_count")


def row_differences(place, expected, found):
    for name, value in expected.items():
        actual = found.get(name)
        is_near = isinstance(value, float) and actual is not None and abs(
            value - actual) <= 1e-9 * abs(value)
        if actual != value and not is_near:
            yield f"{place}.{name}", value, found.get(name)


def table_differences(place, expected, rows, key):
    found = {row[key]: row for row in rows}
    if sorted(expected) != sorted(found):
        yield place, sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    for name, row in expected.items():
        yield from row_differences(f"{place} {name!r}", row, found.get(name, {}))


def site_differences(truth, facts):
    """Rows of the four tables of sites; those with nothing to rank by need not be there."""
    for table, column in SITE_TABLES.items():
        rows = facts.get(table, [])
        ranked = [row[column] or 0 for row in rows]
        if ranked != sorted(ranked, reverse=True):
            yield f"{table} order", sorted(ranked, reverse=True)[:5], ranked[:5]
        hidden = STREAMED_COLUMNS if truth["is_aggregated"] else ()
        expected = {site: {name: None if name in hidden else value for name, value in row.items()}
                    for site, row in truth["sites"].items() if row.get(column, 0) > 0
                    and column not in hidden}
        yield from table_differences(table, expected, rows, "site")


def thread_differences(truth, facts):
    names = truth["thread_names"]
    expected = {}
    for tid, (count, total, peak) in truth["threads"].items():
        expected[names.get(tid, f"thread {tid}")] = {"count": count, "total_bytes": total,
                                              "peak_bytes": peak}
    yield from table_differences("by_thread", expected, facts.get("by_thread", []), "thread")


def size_differences(truth, facts):
    if truth["is_aggregated"]:
        return
    found = {}
    for row in facts.get("by_size", []):
        found[row["min_bytes"]] = row["count"]
        if row["max_bytes"] != max(0, 2 * row["min_bytes"] - 1):
            yield f"by_size {row['min_bytes']} to", 2 * row["min_bytes"] - 1, row["max_bytes"]
    if found != truth["sizes"]:
        yield "by_size", truth["sizes"], found


def resident_differences(truth, facts):
    """At most 64 rows, each the highest since the one before."""
    recorded = list(zip(truth["resident"], truth.get("heap") or [None] * len(truth["resident"])))
    rows, begin = facts.get("resident", []), 0
    if len(rows) != min(64, len(recorded)):
        yield "resident rows", min(64, len(recorded)), len(rows)
    for row in rows:
        part = [one for one in recorded[begin:] if one[0].ms * 1000000 <= row["time_ns"]]
        begin += len(part)
        expected = (max((one.size for one, _ in part), default=None),
                    max((heap for _, heap in part if heap is not None), default=None))
        if (row["rss_bytes"], row["heap_bytes"]) != expected:
            yield f"resident {row['time_ns']}", expected, (row["rss_bytes"], row["heap_bytes"])
    if begin != len(recorded):
        yield "resident records", len(recorded), begin


def differences(truth, facts):
    yield from row_differences("host_memory", {name: truth.get(name) for name in FACTS}, facts)
    yield from site_differences(truth, facts)
    yield from thread_differences(truth, facts)
    yield from size_differences(truth, facts)
    yield from resident_differences(truth, facts)
    if not truth["is_aggregated"]:
        expected = {name: {"count": count, "bytes": size}
                    for name, (count, size) in truth["allocators"].items()}
        yield from table_differences("by_allocator", expected, facts.get("by_allocator", []),
                                     "allocator")


def stack_differences(program, path, truth):
    """The files for flame graphs."""
    for moment, expected in zip(("peak", "end"), memray_figures.stacks(truth)):
        found = program.stacks(path, moment)
        for stack in sorted(set(expected) | set(found)):
            if expected.get(stack, 0) != found.get(stack, 0):
                yield f"stack at {moment} {stack!r}", expected.get(stack, 0), found.get(stack, 0)


# ---- memray's own statistics ----------------------------------------------------------------


def top_places(sites, figure, name):
    """The five places that memray would name, in its words."""
    ranked = sorted(sites.items(), key=lambda item: (-item[1][figure], item[0]))[:5]
    return [{"location": location_of(site), name: row[figure]} for site, row in ranked if site]


def location_of(site):
    """As memray has it, function first; 0 for a line that is not known."""
    file, *line, function = site.split(":")
    return ":".join([function, file, *(line or ["0"])])


def statistics(figures, header):
    """What `memray stats --json` writes of a capture."""
    zone = datetime.timezone.utc
    start, end = (str(datetime.datetime.fromtimestamp(header[name] / 1000, zone))
                  for name in ("start_ms", "end_ms"))
    bins = sorted(figures["sizes"].items())
    return {
        "total_num_allocations": figures["allocation_count"],
        "total_bytes_allocated": figures["allocated_bytes"],
        "allocation_size_histogram": [
            {"min_bytes": low, "max_bytes": max(0, 2 * low - 1), "count": count}
            for low, count in bins],
        "allocator_type_distribution": {
            name.upper(): count for name, (count, _) in figures["allocators"].items()},
        "top_allocations_by_size": top_places(figures["sites"], "total_bytes", "size"),
        "top_allocations_by_count": top_places(figures["sites"], "count", "count"),
        "metadata": {"start_time": start, "end_time": end, "total_allocations": 0,
                     "total_frames": 0, "peak_memory": figures["peak_bytes"],
                     "command_line": figures["command"], "pid": figures["pid"],
                     "main_thread_id": 1, "python_allocator": "pymalloc",
                     "has_native_traces": figures["has_native_stacks"],
                     "trace_python_allocators": figures["traces_python_allocators"],
                     "file_format": 0}}


def statistics_differences(program, truth):
    """What is read from memray's statistics is what its capture tells."""
    figures = memray_figures.figures(truth)
    document = statistics(figures, truth.header)
    with tempfile.NamedTemporaryFile("w", suffix=".bin.json") as file:
        json.dump(document, file, indent=2)
        file.flush()
        facts = program.facts(file.name).get("host_memory", {})
    names = ("allocation_count", "allocated_bytes", "peak_bytes", "pid", "capture_ns",
             "has_native_stacks", "traces_python_allocators")
    yield from row_differences("statistics", {name: figures[name] for name in names}, facts)
    yield from size_differences(figures, facts)
    counts = {name: {"count": count, "bytes": None}
              for name, (count, _) in figures["allocators"].items()}
    yield from table_differences("statistics by_allocator", counts, facts["by_allocator"],
                                 "allocator")
    for table, column, name in (("by_bytes", "total_bytes", "size"), ("by_count", "count", "count")):
        places = document[f"top_allocations_by_{name}"]
        expected = {place["location"]: {column: place[name]} for place in places if place[name]}
        rows = [{**row, "place": location_of(row["site"])} for row in facts.get(table, [])]
        yield from table_differences(f"statistics {table}", expected, rows, "place")


# ---- files ----------------------------------------------------------------------------------


def check_file(program, path, truth):
    try:
        facts = program.facts(path).get("host_memory", {})
        found = list(differences(memray_figures.figures(truth), facts))
        found += stack_differences(program, path, truth)
        if not truth.header["is_aggregated"] and truth.header["end_ms"]:
            found += statistics_differences(program, truth)
    except compare_memory.NotBuiltIn:
        return
    except RuntimeError as error:
        is_empty = not truth.aggregates and not any(map(memray_figures.allocates,
                                                        truth.operations))
        found = [] if is_empty else [("the report", "one", error)]
    for place, expected, actual in found:
        yield f"{place}: expected {expected}, tscope says {actual}"


def check(program, seed, folder):
    data, truth = make_memray.make(seed)
    path = folder / "rank0.bin"
    path.write_bytes(data)
    for difference in check_file(program, path, truth):
        yield f"format {truth.header['version']}: {difference}"


def main(program, *arguments):
    program = compare_memory.Program(program)
    if arguments[:1] == ("--files",):
        return 1 if sum(seeds.show(path, check_file(program, path, memray_reader.read(path)))
                        for path in arguments[1:]) else 0
    return seeds.run(functools.partial(check, program), arguments, 200)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
