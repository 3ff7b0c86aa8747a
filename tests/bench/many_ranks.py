#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `tscope report` on the traces of many ranks, 200 MB each: eight of them in one thread
against two, and one after the other against all at once. By hand, also what memory 64 of them need.

usage: many_ranks.py TSCOPE [--folder FOLDER] [--rounds N] [--ranks N]

The folder (or TSCOPE_BENCH_DIR) holds the traces in r8 and r64, is filled when it is empty, and
kept: 14 GB. With --ranks 8 only what run.py measures, too: 1.6 GB.
"""
import argparse
import os
import pathlib
import re
import statistics
import sys
import tempfile

import inputs
import measure
from measure import Command, Mark

GENERATED = 8  # ranks that the generator makes; further ones are theirs with another number
HEAD_BYTES = 1 << 16  # distributedInfo stands in these
MOST_MEMORY = 2e9


# ---- the traces of further ranks -----------------------------------------------------------


def renumber(source, target, rank, count):
    """Copies a trace as that of another rank of a larger world."""
    with open(source, "rb") as file, open(target, "wb") as copy:
        head = file.read(HEAD_BYTES)
        head = re.sub(rb'("rank": )\d+', rb"\g<1>%d" % rank, head, count=1)
        copy.write(re.sub(rb'("world_size": )\d+', rb"\g<1>%d" % count, head, count=1))
        while block := file.read(1 << 24):
            copy.write(block)


def multiply(folder, traces, count):
    """A folder with a trace for each of so many ranks."""
    for rank in range(count):
        source = traces[rank % len(traces)].plain
        inputs.make(folder / f"rank-{rank}.json", lambda path, source=source, rank=rank:
                    renumber(source, path, rank, count))
    return folder


# ---- the measurement -----------------------------------------------------------------------


def eight_commands(tscope, folder, traces):
    for number, trace in enumerate(traces):
        yield f"rank {number}", Command([tscope, "report", "--threads", "1", trace.plain])
    yield "one thread", Command([tscope, "report", "--threads", "1", folder])
    yield "two threads", Command([tscope, "report", "--threads", "2", folder])


def marks(tscope, folder, rounds):
    """What is measured of eight ranks."""
    traces, _ = inputs.ranks(folder)
    runs = measure.measure(dict(eight_commands(tscope, folder, traces)), rounds)
    size = sum(trace.size for trace in traces)
    measure.print_runs("eight ranks of 200 MB", runs, {
        name: traces[0].size if name.startswith("rank") else size for name in runs})
    yield measure.compare(5, "eight ranks, two threads / one thread", runs, "two threads",
                          "one thread", 0.60)
    singles = [made for name, made in runs.items() if name.startswith("rank ")]
    ratios = [together.wall_s / sum(one.wall_s for one in round)
              for together, *round in zip(runs["two threads"], *singles)]
    yield Mark(5, "eight ranks, at once in two threads / one after the other",
               statistics.median(ratios))


def memory_mark(tscope, folder, count):
    """What so many ranks need; the first eight of them are generated."""
    traces, _ = inputs.ranks(folder / f"r{GENERATED}")
    many = multiply(folder / f"r{count}", traces, count)
    peak_bytes = measure.Run(Command([tscope, "report", many])).peak_bytes
    return Mark(4, f"peak memory of {count} ranks / 2 GB", peak_bytes / MOST_MEMORY, 1,
                mine=measure.megabytes(peak_bytes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) / "tscope-bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=64)
    arguments = parser.parse_args()
    folder = pathlib.Path(os.environ.get("TSCOPE_BENCH_DIR", arguments.folder))
    measured = list(marks(arguments.tscope, folder / f"r{GENERATED}", arguments.rounds))
    if arguments.ranks > GENERATED:
        measured.append(memory_mark(arguments.tscope, folder, arguments.ranks))
    measure.print_marks(measured)


if __name__ == "__main__":
    sys.exit(main())
