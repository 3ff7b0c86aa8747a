#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `tscope memory` on a generated snapshot against Python's pickle.load, which is what
every other reader of snapshots begins with.

usage: memory.py TSCOPE [--folder FOLDER] [--rounds N] [--size SIZE]

The folder (or TSCOPE_BENCH_DIR) holds the snapshot, is filled when it is empty, and kept. run.py
measures one of 100M; by hand 1G is usual.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import measure
from measure import Command, Mark

REFERENCE = pathlib.Path(__file__).resolve().parents[1] / "reference"
LOAD = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"


def prepare(folder, size):
    """The snapshot's path; its truth lies beside it. Both are made where they are missing."""
    path = folder / f"snapshot-{size}.pickle"
    if not pathlib.Path(f"{path}.truth.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, REFERENCE / "make_snapshot.py", path, "--size", size],
                       check=True)
    return path


def marks(tscope, folder, size, rounds):
    path = prepare(folder, size)
    runs = measure.measure({"cat": Command(["cat", path]),
                            "tscope memory": Command([tscope, "memory", path]),
                            "pickle.load": Command([sys.executable, "-c", LOAD, path])}, rounds)
    measure.print_runs(f"a snapshot of {size}", runs, dict.fromkeys(runs, path.stat().st_size))
    yield measure.compare(9, f"snapshot of {size} / pickle.load", runs, "tscope memory",
                          "pickle.load", 0.1)
    peak_bytes, file_bytes = measure.peak(runs["tscope memory"]), path.stat().st_size
    yield Mark(9, f"peak memory / size of a snapshot of {size}", peak_bytes / file_bytes, 1.5,
               mine=measure.megabytes(peak_bytes), peer=measure.megabytes(file_bytes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) / "tscope-bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", default="1G")
    arguments = parser.parse_args()
    folder = pathlib.Path(os.environ.get("TSCOPE_BENCH_DIR", arguments.folder))
    measure.print_marks(marks(arguments.tscope, folder / "snapshot", arguments.size,
                              arguments.rounds))


if __name__ == "__main__":
    sys.exit(main())
