#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether reports take more instructions than they did: what valgrind's callgrind counts, on inputs
made here, against the counts in marks_gate.json or those of another program.

usage: marks_gate.py TSCOPE [--update | --against PROGRAM [TRACE]...] [--json]

Exit status 1: an input takes over 2 % more. Counts depend on compiler, C library, valgrind, codecs and
the instructions of the CPU, whose names are stored with them: with others the test is skipped, and
--against compares with a program that was built here of an older commit. TSCOPE is a release build of
gcc. Who means a report to cost more says why in the commit, and stores the new counts by --update.
"""
import argparse
import gzip
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import stages

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = HERE.parent / "reference"
STORED = HERE / "marks_gate.json"
SKIPPED = 77
MOST = 1.02
COMPILER = re.compile(rb"GCC: \([^)\0]*\) [\d.]+")


def made_here():
    """All that a count depends on besides the source."""
    return {"libc": " ".join(platform.libc_ver()),
            "valgrind": run(["valgrind", "--version"]).strip(),
            "machine": platform.machine(),
            "avx2": "avx2" in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii").split()}


def made_by(tscope):
    """That of a program: compilers of it and its libraries' start, and what it was linked with."""
    compilers = {found.decode() for found in COMPILER.findall(pathlib.Path(tscope).read_bytes())}
    return {"compiler": sorted(compilers), "libraries": run([tscope, "--version"]).splitlines()[1:]}


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def script(path, *arguments):
    run([sys.executable, path, *arguments])


def make_inputs(folder):
    """Name → arguments of tscope. The bytes are the same every time."""
    trace, host = folder / "training.json", folder / "host.json"
    script(HERE / "shapes.py", "training", "80000", trace)
    script(HERE / "shapes.py", "host-training", "40000", host)
    packed = folder / "training.json.gz"
    packed.write_bytes(gzip.compress(trace.read_bytes(), 6, mtime=0))
    script(REFERENCE / "make_ranks.py", folder / "ranks", "--ranks", "8")
    snapshot = folder / "snapshot.pickle"
    script(REFERENCE / "make_snapshot.py", snapshot, "--size", "8M")
    return {"trace": ["trace", trace], "trace, gz": ["trace", packed],
            "trace, JSON": ["trace", "--full", "--format", "json", host],
            "trace, host only": ["trace", host], "eight ranks": ["report", folder / "ranks"],
            "snapshot": ["memory", snapshot], "--version": ["--version"]}


def count(tscope, arguments):
    threads = ["--threads", "1"] if arguments[0] in ("trace", "report") else []
    return stages.count([tscope, *arguments[:1], *threads, *arguments[1:]])


def measure(tscope, traces, against=None):
    """(name, instructions of tscope, those of the other program) for each input."""
    with tempfile.TemporaryDirectory() as folder:
        table = make_inputs(pathlib.Path(folder))
        table |= {path.name: ["trace", path] for path in traces}
        for name, arguments in table.items():
            yield name, count(tscope, arguments), against and count(against, arguments)


def compare(rows, prints_json):
    """Prints rows of (name, after, before); whether one is too much."""
    rows = [{"name": name, "before": before, "after": after, "ratio": after / before}
            for name, after, before in rows]
    excessive = [row["name"] for row in rows if row["ratio"] > MOST]
    if prints_json:
        print(json.dumps(rows, indent=1))
        return bool(excessive)
    print(f"{'million instructions':40} {'before':>10} {'now':>10} {'change':>9}")
    for row in rows:
        print(f"{row['name'][:40]:40} {row['before'] / 1e6:10.2f} {row['after'] / 1e6:10.2f} "
              f"{(row['ratio'] - 1) * 100:+7.2f} %{'   TOO MUCH' if row['ratio'] > MOST else ''}")
    if excessive:
        print(f"make {', '.join(excessive)} cheaper, or store what {'they take' if len(excessive) > 1 else 'it takes'}"
              " now: tests/bench/marks_gate.py build/tscope --update")
    return bool(excessive)


def gate(tscope, prints_json):
    """Against the counts stored."""
    stored = json.loads(STORED.read_text(encoding="ascii"))
    here = {**made_here(), **made_by(tscope)}
    for what, value in here.items():
        if stored["with"][what] != value:
            print(f"skipped: counts are stored for {what} {stored['with'][what]}, here it is {value}")
            return SKIPPED
    return compare([(name, now, stored["instructions"][name])
                    for name, now, _ in measure(tscope, [])], prints_json)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("traces", nargs="*", metavar="TRACE", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="store the counts")
    parser.add_argument("--against", metavar="PROGRAM", help="compare with this one instead")
    parser.add_argument("--json", action="store_true", help="print rows for programs")
    options = parser.parse_args()
    if not stages.is_there():
        print("skipped: no valgrind")
        return SKIPPED
    if options.against:
        return compare(measure(options.tscope, options.traces, options.against), options.json)
    if not options.update:
        return gate(options.tscope, options.json)
    counts = {name: now for name, now, _ in measure(options.tscope, [])}
    STORED.write_text(json.dumps({"with": {**made_here(), **made_by(options.tscope)},
                                  "instructions": counts}, indent=1) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
