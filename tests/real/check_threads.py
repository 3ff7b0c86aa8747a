#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every trace of the shared folder, read with one thread and with several: reports, messages and exit
statuses are the same to the byte. Small blocks make several threads work on small files, too.

usage: check_threads.py TSCOPE
"""
import pathlib
import sys

import program

BLOCK_SIZES = (0, 20000, 3001)  # 0: the default
THREAD_COUNTS = (2, 3)
MAX_BYTES = 100_000_000
SUFFIXES = (".json", ".json.gz", ".json.zst", "_gz", ".html")


def outcome(tscope, path, block_bytes, thread_count):
    done = tscope.run("trace", "--format", "json", "--full", "--block-size", block_bytes,
                      "--threads", thread_count, path)
    return done.returncode, done.stdout, done.stderr


def main():
    tscope = program.Program(pathlib.Path(sys.argv[1]))
    results = program.Results()
    for path in sorted(program.need(program.DATA).rglob("*")):
        if not path.name.endswith(SUFFIXES) or path.stat().st_size > MAX_BYTES:
            continue
        for block_bytes in BLOCK_SIZES:
            alone = outcome(tscope, path, block_bytes, 1)
            for thread_count in THREAD_COUNTS:
                name = f"{program.short(path)}, blocks of {block_bytes}, {thread_count} threads"
                results.check(name, True, outcome(tscope, path, block_bytes, thread_count) == alone)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
