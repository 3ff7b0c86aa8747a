#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `tscope trace` of a trace from a pipe that is far larger than what it may hold in memory.

usage: endless.py TSCOPE ENDLESS [--size SIZE] [--max-memory BYTES]

ENDLESS is the program of endless.c. Prints the speed and the peak of the memory that only swapping
would free; pages of the nameless file (`--memory-limit`) are beside it, and the system takes them
when it needs them. By hand: --size 100G takes 15 GB in TMPDIR or /var/tmp.
"""
import argparse
import os
import re
import subprocess
import sys
import time

SUFFIXES = {"M": 10**6, "G": 10**9}


def size_of(text):
    return int(float(text[:-1]) * SUFFIXES[text[-1]])


def watch(process):
    """The most anonymous memory of a process, and the most of all its pages, in bytes."""
    anonymous, resident = 0, 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                status = dict(re.findall(r"(RssAnon|VmHWM):\s+(\d+) kB", file.read()))
        except OSError:
            break
        anonymous = max(anonymous, int(status.get("RssAnon", 0)) * 1024)
        resident = max(resident, int(status.get("VmHWM", 0)) * 1024)
        time.sleep(0.02)
    process.wait()
    return anonymous, resident


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("endless")
    parser.add_argument("--size", default="1G")
    parser.add_argument("--max-memory", default="64M")
    arguments = parser.parse_args()
    size_bytes = size_of(arguments.size)
    start_s = time.perf_counter()
    with subprocess.Popen([arguments.endless, str(size_bytes)], stdout=subprocess.PIPE) as writer:
        with subprocess.Popen([arguments.tscope, "trace", "--quiet", "--max-memory",
                               arguments.max_memory, "-"], stdin=writer.stdout) as reader:
            writer.stdout.close()
            anonymous_bytes, resident_bytes = watch(reader)
    wall_s = time.perf_counter() - start_s
    cpu = os.times()
    print(f"{size_bytes / 1e9:.1f} GB in {wall_s:.1f} s, {size_bytes / wall_s / 1e9:.2f} GB/s, "
          f"{cpu.children_user + cpu.children_system:.1f} s of CPU with the writer")
    print(f"anonymous memory {anonymous_bytes / 1e6:.1f} MB, with pages of files "
          f"{resident_bytes / 1e6:.1f} MB")
    is_kept = anonymous_bytes <= 64e6 and reader.returncode == 0
    print(f"{'ok' if is_kept else 'MISSED'}: at most 64 MB of anonymous memory")
    return not is_kept


if __name__ == "__main__":
    sys.exit(main())
