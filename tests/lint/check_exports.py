#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shared library exports exactly the functions that include/tscope declares, and no global
name of the static library can clash with a user's.

usage: check_exports.py SOURCE_ROOT LIBTSCOPE_SO LIBTSCOPE_A
"""
import pathlib
import re
import subprocess
import sys

NOT_CODE = re.compile(r"/\*.*?\*/|^\s*#.*?(?<!\\)$", re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r"\b(tscope_\w+)\s*\(")


def declared(root):
    names = set()
    for header in sorted((root / "include/tscope").glob("*.h")):
        names |= set(FUNCTION.findall(NOT_CODE.sub("", header.read_text())))
    return names


def symbols(*command):
    """Names that nm prints in its third column, less versions (@@LIBTSCOPE_0) and the compiler's."""
    lines = subprocess.run(["nm", "--defined-only", *command], check=True, text=True,
                           capture_output=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    return {row[2].partition("@")[0] for row in rows
            if len(row) == 3 and row[1] != "A" and not row[2].startswith("__")}


def main():
    root = pathlib.Path(sys.argv[1])
    public, exported = declared(root), symbols("-D", sys.argv[2])
    problems = [f"{name}: declared in include/tscope, but not in the library: define it or drop it"
                for name in sorted(public - exported)]
    problems += [f"{name}: exported, but not declared in include/tscope: declare it or call it tsi_"
                 for name in sorted(exported - public)]
    problems += [f"{name}: global name without tsi_ or tscope_: make it static or rename it"
                 for name in sorted(symbols("-g", sys.argv[3]))
                 if not name.startswith(("tsi_", "tscope_"))]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
