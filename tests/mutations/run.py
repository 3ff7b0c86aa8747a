#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks the program on purpose, one change of list.txt at a time, and expects a test to fail.

The tests of unit and cli run until the first fails. A change that none notices is a test that is
missing: exit code 1.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def side(lines, sign):
    """A pattern of the lines with a sign, and these lines; how they are indented does not matter."""
    texts = [line[2:] for line in lines if line.startswith(sign)]
    return r"\s+".join(re.escape(text) for text in texts), "\n".join(texts)


def changes():
    """(path, pattern, replacement) of each block of the list."""
    blocks = (HERE / "list.txt").read_text().split("\n\n")
    for block in blocks[1:]:
        path, *lines = block.strip().split("\n")
        yield path, side(lines, "- ")[0], side(lines, "+ ")[1]


def misplaced():
    """The changes whose text stands nowhere or twice."""
    for path, pattern, replacement in changes():
        count = len(re.findall(pattern, (ROOT / path).read_text()))
        if count != 1:
            yield f"{path}: stands there {count} times: {pattern}"


def fails(build):
    """What notices the change, or None."""
    if subprocess.run(["ninja", "-C", build], stdout=subprocess.DEVNULL).returncode:
        return "the compiler"
    log = subprocess.run(
        ["meson", "test", "-C", build, "--no-rebuild", "--suite", "unit", "--suite", "cli", "--maxfail", "1"],
        stdout=subprocess.PIPE, text=True).stdout
    failed = re.search(r"(\S+ / \S+)\s+(FAIL|TIMEOUT|ERROR)", log)
    return failed and failed[1]


def try_change(build, path, pattern, replacement):
    file = ROOT / path
    whole = file.read_text()
    try:
        file.write_text(re.sub(pattern, lambda _: replacement, whole))
        return fails(build)
    finally:
        file.write_text(whole)


def try_changes(build, part):
    missed = 0
    for path, pattern, replacement in changes():
        if part in path:
            caught = try_change(build, path, pattern, replacement)
            missed += not caught
            print(f"{'caught by ' + caught if caught else 'NOT CAUGHT'}: {path}: {replacement}", flush=True)
    subprocess.run(["ninja", "-C", build], stdout=subprocess.DEVNULL)
    return missed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("build", nargs="?", metavar="BUILD", help="a build folder of this tree")
    what.add_argument("--check", action="store_true",
                      help="break nothing: see that each text of the list stands once in its file")
    parser.add_argument("part", nargs="?", default="", metavar="TEXT",
                        help="only the changes of files whose paths hold this")
    arguments = parser.parse_args()
    if not arguments.check:
        return try_changes(arguments.build, arguments.part)
    problems = list(misplaced())
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
