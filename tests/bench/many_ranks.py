#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `tscope report` on the traces of many ranks, 200 MB each: how much longer eight reports
one after the other take than one of all eight, and what memory 64 of them need. As in run.py, the
report is compared with the truth that the generator knows.

usage: many_ranks.py TSCOPE [--folder FOLDER] [--rounds N] [--ranks N]

The folder (or TSCOPE_BENCH_DIR) holds the traces, is filled when it is empty, and kept: 14 GB.
With --ranks 8 only the first figure is measured: 1.6 GB.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
import program  # noqa: E402 (found by the path above)

GENERATED = 8  # ranks that the generator makes; further ones are theirs with another number
SLOW_RANK = 5
GENERATE = ["--ranks", str(GENERATED), "--size", "200M", "--straggler", f"{SLOW_RANK}:5",
            "--layout", "hta"]
HEAD_BYTES = 1 << 16  # distributedInfo stands in these
MEMORY_MARK = 2e9


# ---- the traces ----------------------------------------------------------------------------


def generate(folder):
    """The traces of the first ranks, in their order."""
    if not (folder / "truth.json").exists():
        generator = program.need(program.SHARED / "tools" / "gen_trace.py")
        subprocess.run([sys.executable, generator, folder, *GENERATE], check=True)
    ranks = json.loads((folder / "truth.json").read_text())["ranks"]
    return [folder / rank["file"] for rank in ranks]


def renumber(source, target, rank, count):
    """Copies a trace as that of another rank of a larger world."""
    partial = target.with_suffix(".partial")
    with open(source, "rb") as file, open(partial, "wb") as copy:
        head = file.read(HEAD_BYTES)
        head = re.sub(rb'("rank": )\d+', rb"\g<1>%d" % rank, head, count=1)
        copy.write(re.sub(rb'("world_size": )\d+', rb"\g<1>%d" % count, head, count=1))
        while block := file.read(1 << 24):
            copy.write(block)
    partial.rename(target)


def multiply(folder, traces, count):
    """A folder with a trace for each of so many ranks."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(count):
        target = folder / f"rank-{rank}.json"
        if not target.exists():
            renumber(traces[rank % len(traces)], target, rank, count)
    return folder


# ---- the measurement -----------------------------------------------------------------------


def marks(runs, trace_count):
    """(what, figure, mark): a figure must not be above its mark."""
    singles = [made for name, made in runs.items() if name.startswith("rank ")]
    ratios = [together.wall_s / sum(one.wall_s for one in round)
              for together, *round in zip(runs["all"], *singles)]
    yield f"{len(singles)} traces at once / one after the other", statistics.median(ratios), 0.55
    if trace_count > len(singles):
        peak = max(one.peak_bytes for one in runs["many"])
        yield f"peak memory of {trace_count} traces / 2 GB", peak / MEMORY_MARK, 1


def print_marks(runs, trace_count):
    for what, figure, mark in marks(runs, trace_count):
        verdict = "reached" if figure <= mark else "NOT REACHED"
        print(f"{what}: {figure:.3f} (mark {mark}): {verdict}")


def check_report(tscope, folder):
    """Speed cannot come from work left out: the slow rank is named, and nobody else."""
    done = program.Program(tscope).run("report", "--format", "json", folder)
    facts = json.loads(done.stdout)["facts"]["distributed"]
    results = program.Results()
    results.check("ranks", GENERATED, len(facts["ranks"]))
    results.check("slow ranks", [SLOW_RANK], [row["rank"] for row in facts["slow_ranks"]])
    return results.exit_status()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) / "tscope-bench-ranks")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=64)
    arguments = parser.parse_args()
    folder = pathlib.Path(os.environ.get("TSCOPE_BENCH_DIR", arguments.folder))
    traces = generate(folder / f"r{GENERATED}")
    report = [arguments.tscope, "report"]
    table = {f"rank {number}": [*report, "--threads", "1", trace]
             for number, trace in enumerate(traces)}
    table["all"] = [*report, folder / f"r{GENERATED}"]
    runs = run.measure(table, arguments.rounds)
    if arguments.ranks > GENERATED:
        many = multiply(folder / f"r{arguments.ranks}", traces, arguments.ranks)
        runs["many"] = [run.Run([*report, many], subprocess.DEVNULL)]
    run.print_runs(runs, sum(trace.stat().st_size for trace in traces))
    print_marks(runs, arguments.ranks)
    return check_report(arguments.tscope, folder / f"r{GENERATED}")


if __name__ == "__main__":
    sys.exit(main())
