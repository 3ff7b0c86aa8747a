#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every real folder with files of two or more ranks, mapped in 1, 3 and 8 shards and read in any
order, gives the report of its files: see ../cli/map.py.

usage: check_map.py TSCOPE
"""
import os
import pathlib
import random
import sys

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import map as mapped  # noqa: E402  pylint: disable=wrong-import-position

FEWEST_SETS = 8  # of the shared data: fewer have got lost


def ranks_of(tscope, folder):
    document = mapped.report(tscope, folder)[1]
    return max((len(run["ranks"]) for run in document["runs"]), default=0) if document else 0


def main():
    tscope = sys.argv[1]
    data = program.need(program.DATA)
    if "zstd: not built in" in mapped.run(tscope, "--version").stdout.decode():
        return program.SKIPPED
    random_numbers = random.Random(1)
    compared, problems = 0, []
    for path, folders, files in sorted(os.walk(data)):
        # All of it holds captures of graphs, which are joined to replays where traces are read.
        if pathlib.Path(path) == data:
            continue
        if len(files) + sum("rank" in name for name in folders) < 2 or ranks_of(tscope, path) < 2:
            continue
        problems += mapped.compare(tscope, path, (1, 3, 8), random_numbers)
        compared += 1
    for problem in problems:
        print(problem)
    print(f"{compared} folders of several ranks, {len(problems)} differences")
    return 1 if problems or compared < FEWEST_SETS else 0


if __name__ == "__main__":
    sys.exit(main())
