#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""JSON of traces of about a megabyte is at most 150 kB; --full adds the rows left out.

usage: check_json_size.py TSCOPE
"""
import gzip
import subprocess
import sys

import program

MIN_BYTES, MAX_BYTES = 500_000, 2_200_000
MAX_JSON_BYTES = 150_000


def size_of(path):
    """Bytes of JSON in a file, or 0: too large or none."""
    if not path.name.endswith(".gz"):
        return path.stat().st_size
    try:
        with gzip.open(path) as file:
            return len(file.read(MAX_BYTES + 1))
    except (OSError, EOFError):
        return 0


def main():
    data = program.need(program.DATA)
    executable = program.Program(sys.argv[1]).path
    sizes, wrong = [], 0
    for path in sorted(data.rglob("*.json")) + sorted(data.rglob("*.json.gz")):
        if not MIN_BYTES <= size_of(path) <= MAX_BYTES:
            continue
        done = [subprocess.run([executable, "trace", "--format", "json", *more, path], check=False,
                               capture_output=True, timeout=120) for more in ((), ("--full",))]
        if done[0].returncode != 0:
            continue
        brief, full = (len(one.stdout) for one in done)
        sizes.append(brief)
        if brief > MAX_JSON_BYTES or full < brief:
            print(f"{program.short(path)}: {brief} bytes, {full} with --full")
            wrong += 1
    print(f"# {len(sizes)} traces; JSON of {min(sizes)} to {max(sizes)} bytes, {wrong} wrong")
    return 1 if wrong or not sizes else 0


if __name__ == "__main__":
    sys.exit(main())
