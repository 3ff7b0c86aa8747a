#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Default reports of 120 real traces and files about memory fit one screen and begin with the
answer.

usage: check_screens.py TSCOPE
"""
import pathlib
import sys

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import screen

COUNT = 120
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
    return screens.exit_status()


if __name__ == "__main__":
    sys.exit(main())
