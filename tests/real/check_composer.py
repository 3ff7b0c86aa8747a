#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Composer's traces: what each step is made of, callbacks and algorithms, counters, the ranks'
clocks. On random jobs against what these know of themselves, and on the real traces of the shared
folder against composer.py.

usage: check_composer.py TSCOPE [COUNT [FIRST_SEED]]
"""
import json
import pathlib
import sys
import tempfile

import composer
import program
import traces

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import make_composer_traces  # noqa: E402 (found by the path above)

TOLERANCE_NS = 1
US = 1000


def agrees(expected, found):
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return abs(expected - found) <= max(TOLERANCE_NS if expected > 2 else 0,
                                            1e-9 * abs(expected))
    return expected == found


def check_row(results, label, expected, found):
    for name, value in expected.items():
        actual = (found or {}).get(name)
        results.check(f"{label} {name}", value, value if agrees(value, actual) else actual)


def check_rows(results, label, expected, rows, *keys):
    found = {tuple(row[key] for key in keys): row for row in rows or []}
    results.check(label + " rows", sorted(expected), sorted(found))
    for key, row in expected.items():
        check_row(results, f"{label} {'/'.join(key)}", row, found.get(key))


def check_rank(results, label, rank, facts):
    steps = {str(batch): {"start_ns": start, "wall_ns": wall,
                          **{line + "_ns": ns for line, ns in lines.items()}}
             for batch, start, wall, lines in composer.lines_of_steps(rank)}
    check_rows(results, label + " step", {(batch,): row for batch, row in steps.items()},
               [{**row, "batch": str(row["step"])} for row in facts["steps"]["list"]], "batch")
    total, by_name, by_event = composer.call_figures(rank)
    calls = facts.get("callbacks", {})
    check_row(results, label + " callbacks", total, calls)
    check_rows(results, label, by_name, calls.get("by_name"), "kind", "name")
    check_rows(results, label, by_event, calls.get("by_event"), "kind", "name", "event")
    check_rows(results, label + " counter", composer.counter_figures(rank),
               facts.get("counters", {}).get("by_name"), "counter", "series")


# ---- clocks ---------------------------------------------------------------------------------


def clock_figures(ranks, plan):
    """Of a job: what it knows of its clocks, and of who is late."""
    starts = {one.rank: {batch: start for batch, start, _ in one.marks} for one in ranks}
    shared = sorted(set.intersection(*(set(of_rank) for of_rank in starts.values())))
    skews, lateness = [], {one.rank: 0 for one in ranks}
    for batch in shared:
        times = {rank: of_rank[batch] * US for rank, of_rank in starts.items()}
        skews.append(max(times.values()) - min(times.values()))
        for rank, time in times.items():
            lateness[rank] += time - min(times.values())
    facts = {"rank_count": len(ranks), "max_error_ns": max(plan["error_us"]) * US,
             "max_offset_ns": max(abs(one.clock_us - ranks[0].clock_us) for one in ranks) * US,
             "mean_step_skew_ns": sum(skews) / len(skews), "max_step_skew_ns": max(skews)}
    rows = {(str(one.rank),): {"offset_ns": (one.clock_us - ranks[0].clock_us) * US,
                               "error_ns": plan["error_us"][one.rank] * US,
                               "mean_lateness_ns": lateness[one.rank] / len(shared)}
            for one in ranks}
    return facts, rows


def check_clocks(results, label, job, report):
    found = report["facts"].get("clock_sync", {})
    facts, rows = clock_figures(job.ranks, job.plan)
    check_row(results, label + " clock_sync", facts, found)
    check_rows(results, label + " clock_sync", rows, [{**row, "rank": str(row["rank"])}
                                                      for row in found.get("ranks", [])], "rank")


# ---- files ----------------------------------------------------------------------------------


def written_rank(one, clock_us):
    """What the job knows of a rank, by the clock of the file in nanoseconds."""
    def at(time):
        return (time + clock_us) * US
    return composer.Rank([(at(a), at(b), names) for a, b, names in one.pieces],
                         [(batch, at(a), at(b)) for batch, a, b in one.marks],
                         [(*call, at(a), at(b)) for *call, a, b in one.calls],
                         [(at(time), *rest) for time, *rest in one.counters])


def check_job(tscope, results, seed):
    with tempfile.TemporaryDirectory() as folder:
        job = make_composer_traces.make(seed, folder)
        label, is_merged = f"seed {seed}", job.plan["is_merged"]
        for path, one in zip(job.paths, job.ranks) if not is_merged else ():
            check_rank(results, f"{label} rank {one.rank}", written_rank(one, one.clock_us),
                       tscope.report(path)["facts"])
        if len(job.ranks) > 1:
            done = tscope.run("report", "--format", "json", "--full", folder)
            report = json.loads(done.stdout)["runs"][0] if done.returncode == 0 else {"facts": {}}
            results.check(f"{label} report", "", done.stderr.decode())
            check_clocks(results, label, job, report)
            found = {row["rank"]: row["facts"] for row in report.get("ranks", [])}
            for one in job.ranks:
                clock_us = job.ranks[0].clock_us if is_merged else one.clock_us
                check_rank(results, f"{label} rank {one.rank} of all", written_rank(one, clock_us),
                           found.get(one.rank, {"steps": {"list": []}}))


def check_file(tscope, results, path):
    trace = traces.read(path)
    events = [event for event in trace.events if "ts" in event]
    check_rank(results, program.short(path)[-40:], composer.read(events),
               tscope.report(path)["facts"])


def main():
    tscope = program.Program(sys.argv[1])
    results = program.Results()
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for seed in range(first, first + (int(sys.argv[2]) if len(sys.argv) > 2 else 20)):
        check_job(tscope, results, seed)
    for path in sorted(program.DATA.glob("mosaicml+composer/**/*.json")):
        check_file(tscope, results, path)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
