#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every real folder with files of two or more ranks, as a tar, a compressed tar, a zip and a
stream, gives the report of its files: see ../cli/archives.py.

usage: check_archives.py TSCOPE
"""
import os
import pathlib
import sys

import check_map
import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import archives  # noqa: E402  pylint: disable=wrong-import-position


def main():
    tscope = str(pathlib.Path(sys.argv[1]).resolve())
    data = program.need(program.DATA)
    if "libarchive: not built in" in check_map.mapped.run(tscope, "--version").stdout.decode():
        return program.SKIPPED
    compared, problems = 0, []
    for path, folders, files in sorted(os.walk(data)):
        if len(files) + sum("rank" in name for name in folders) < 2:
            continue
        if check_map.ranks_of(tscope, path) >= 2:
            problems += archives.compare(tscope, pathlib.Path(path))
            compared += 1
    for problem in problems:
        print(problem)
    print(f"{compared} folders of several ranks, {len(problems)} differences")
    return 1 if problems or compared < check_map.FEWEST_SETS else 0


if __name__ == "__main__":
    sys.exit(main())
