#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long folders of very many files take, and whether that grows with their number and no faster:
files that are none of ours, traces without an event, windows of one process, and jobs that have to
be told apart.

usage: folders.py TSCOPE [FILES]

Exit status 1: a file of FILES (100,000) takes more than 1.3 times as long as one of a quarter of
them, or the files that are none of ours take more than 3 s (on an idle machine). Time is the user's
and the system's, of which a busy machine changes less.
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

MOST_GROWTH, MOST_S = 1.3, 3


def trace(pid, start_us):
    """Two steps, which every trace of these calls 1 and 2."""
    event = ('{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":%d,"tid":1,'
             '"ts":%d,"dur":9}')
    return ('{"schemaVersion":1,"baseTimeNanoseconds":1790857026000000000,"traceEvents":[%s,%s]}'
            % (event % (1, pid, start_us), event % (2, pid, start_us + 9)))


# Name → text of file i, how many times fewer files.
KINDS = {
    "none of ours": (lambda i: '{"a":1}', 1),
    "without events": (lambda i: '{"traceEvents":[]}', 4),
    "windows": (lambda i: trace(7, 100 * i), 20),
    "jobs": (lambda i: trace(i % 900, 100 * i), 20),
}


def seconds(tscope, text_of, count):
    with tempfile.TemporaryDirectory() as folder:
        for i in range(count):
            (pathlib.Path(folder) / f"c{i}.json").write_text(text_of(i), encoding="ascii")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([tscope, "report", "--quiet", "--threads", "1", folder], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    tscope, files = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    is_bad = False
    for name, (text_of, fewer) in KINDS.items():
        count = files // fewer
        small, large = (seconds(tscope, text_of, n) for n in (count // 4, count))
        growth = large / small / 4
        slow = growth > MOST_GROWTH or (fewer == 1 and large > MOST_S * files / 100_000)
        is_bad |= slow
        print(f"{name:15} {count:7} files {large:6.2f} s   a file's growth from a quarter "
              f"{growth:5.2f}{'   TOO SLOW' if slow else ''}", flush=True)
    return is_bad


if __name__ == "__main__":
    sys.exit(main())
