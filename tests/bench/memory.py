#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `tscope memory` on a generated snapshot of 1 GB against Python's pickle.load, which is
what every other reader of snapshots begins with. As run.py does for traces: all programs take
turns, and the report is compared with the truth that the generator knows.

usage: memory.py TSCOPE [--folder FOLDER] [--rounds N]

The folder (or TSCOPE_BENCH_DIR) holds the snapshot, is filled when it is empty, and kept: 1.2 GB.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import compare_memory  # noqa: E402 (found by the path above)

REFERENCE = pathlib.Path(compare_memory.__file__).resolve().parent
LOAD = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"


def prepare(folder):
    """The paths of the snapshot and of its truth; makes them where they are missing."""
    path, truth = folder / "snapshot.pickle", folder / "snapshot.pickle.truth.json"
    if not truth.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, REFERENCE / "make_snapshot.py", path, "--size", "1G"],
                       check=True)
    return path, json.loads(truth.read_text())


def marks(runs, size):
    """(what, figure, mark): a figure must not be below (speed) or above (memory) its mark."""
    speeds = [python.wall_s / mine.wall_s
              for python, mine in zip(runs["pickle.load"], runs["tscope memory"])]
    yield "pickle.load / tscope memory", statistics.median(speeds), 10, False
    peak = max(one.peak_bytes for one in runs["tscope memory"])
    yield "peak memory / size of the snapshot", peak / size, 1.5, True
    python_peak = max(one.peak_bytes for one in runs["pickle.load"])
    yield "peak memory of pickle.load / of tscope", python_peak / peak, None, False


def print_marks(runs, size):
    for what, figure, mark, is_most in marks(runs, size):
        if mark is None:
            print(f"{what}: {figure:.2f}")
            continue
        is_reached = figure <= mark if is_most else figure >= mark
        print(f"{what}: {figure:.2f} (mark {mark}): {'reached' if is_reached else 'NOT REACHED'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) / "tscope-bench-memory")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    path, truth = prepare(pathlib.Path(os.environ.get("TSCOPE_BENCH_DIR", arguments.folder)))
    runs = run.measure({"cat": ["cat", path],
                        "tscope memory": [arguments.tscope, "memory", path],
                        "pickle.load": [sys.executable, "-c", LOAD, path]}, arguments.rounds)
    run.print_runs(runs, path.stat().st_size)
    print_marks(runs, path.stat().st_size)
    facts = compare_memory.Program(arguments.tscope).facts(path)["snapshot"]
    found = list(compare_memory.snapshot_differences(truth["figures"], facts))
    for place, expected, actual in found[:5]:
        print(f"{place}: expected {expected}, tscope says {actual}")
    print(f"the report {'differs from' if found else 'agrees with'} the truth")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
