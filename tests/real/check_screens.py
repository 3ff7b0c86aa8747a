#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Default reports of 120 real traces and files about memory, of their folders and of pairs of them
(diff) fit one screen and begin with the answer.

usage: check_screens.py TSCOPE
"""
import pathlib
import sys

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import screen

COUNT, DIFF_COUNT = 120, 40
MAX_BYTES = 3 << 20
SUFFIXES = (".json", ".json.gz", ".json.zst", ".pickle", ".pkl", ".bin")
NO_INPUTS = ("config.json", "truth.")


def main():
    data = program.need(program.DATA)
    paths = [path for path in sorted(data.rglob("*"))
             if path.name.endswith(SUFFIXES) and not path.name.startswith(NO_INPUTS)
             and path.stat().st_size < MAX_BYTES]
    screens = screen.Screens(program.Program(sys.argv[1]).path)
    for path in paths[::max(1, len(paths) // COUNT)]:
        screens.check(program.short(path), path)
    for folder in sorted({path.parent for path in paths}):
        screens.check_command("report " + program.short(folder), "report", folder)
    pairs = [pair for pair in zip(paths, paths[1:]) if pair[0].parent == pair[1].parent]
    for pair in pairs[::max(1, len(pairs) // DIFF_COUNT)]:
        screens.check_command("diff " + program.short(pair[0]), "diff", *pair)
    return screens.exit_status()


if __name__ == "__main__":
    sys.exit(main())
