#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures tscope on a generated trace of 1 GB against what the machine and its peers can do, and
prints ratios. All programs take turns, round after round, so that each ratio is of runs made in
the same minute; what is printed is the median over the rounds. In the same run the reports are
compared with the trace's truth, so that speed cannot come from work left out.

usage: run.py TSCOPE [--simdjson PROGRAM] [--folder FOLDER] [--rounds N]

The folder (or TSCOPE_BENCH_DIR) holds the trace, is filled when it is empty, and kept: 1.2 GB.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
import check_truth  # noqa: E402 (found by the path above)
import program  # noqa: E402

GENERATE = ["--size", "1G", "--python-stack", "--record-shapes", "--memory", "--flops",
            "--events-per-step", "25000", "--layout", "hta"]


class Run:
    """What one run of a command cost."""

    def __init__(self, command, output):
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        self.wall_s = time.perf_counter() - start
        self.peak_bytes = usage.ru_maxrss * 1024
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit {child.returncode}")


# ---- the trace -----------------------------------------------------------------------------


def pack(source, target, command):
    if target.exists():
        return
    partial = target.with_suffix(".partial")
    with open(partial, "wb") as file:
        subprocess.run([*command, source], stdout=file, check=True)
    partial.rename(target)


def prepare(folder):
    """Returns the paths of the trace (plain, gz, zst) and its truth; makes what is missing."""
    if not (folder / "truth.json").exists():
        generator = program.need(program.SHARED / "tools" / "gen_trace.py")
        subprocess.run([sys.executable, generator, folder, *GENERATE], check=True)
    rank = json.loads((folder / "truth.json").read_text())["ranks"][0]
    plain = folder / rank["file"]
    files = {"plain": plain, "gz": pathlib.Path(f"{plain}.gz"), "zst": pathlib.Path(f"{plain}.zst")}
    pack(plain, files["gz"], ["gzip", "-6", "-c"])
    pack(plain, files["zst"], ["zstd", "-q", "-3", "-c"])
    return files, rank


# ---- the measurement -----------------------------------------------------------------------


def commands(tscope, simdjson, files):
    """Name → command. A peer that is not on this machine is left out."""
    table = {
        "cat": ["cat", files["plain"]],
        "tscope": [tscope, "trace", files["plain"]],
        "tscope --threads 1": [tscope, "trace", "--threads", "1", files["plain"]],
        "tscope gz": [tscope, "trace", files["gz"]],
        "tscope zst": [tscope, "trace", files["zst"]],
        "igzip -dc": ["igzip", "-dc", files["gz"]],
        "zstd -dc": ["zstd", "-dc", "-q", files["zst"]],
    }
    if simdjson:
        table["simdjson"] = [simdjson, files["plain"]]
    return {name: command for name, command in table.items() if shutil.which(command[0])}


def measure(table, rounds):
    """Name → the runs of each command, one a round; the first round only warms the caches."""
    runs = {name: [] for name in table}
    for number in range(rounds + 1):
        for name, command in table.items():
            run = Run(command, subprocess.DEVNULL)
            if number > 0:
                runs[name].append(run)
    return runs


def print_runs(runs, size):
    print(f"{'command':20} {'min s':>8} {'median s':>9} {'max s':>8} {'GB/s':>6} {'peak MB':>8}")
    for name, made in runs.items():
        walls = sorted(run.wall_s for run in made)
        median = statistics.median(walls)
        peak = max(run.peak_bytes for run in made)
        print(f"{name:20} {walls[0]:8.3f} {median:9.3f} {walls[-1]:8.3f} "
              f"{size / median / 1e9:6.2f} {peak / 1e6:8.1f}")


def ratio(runs, name, *peers):
    """Median over the rounds of a command's time to that of the slowest peer in the same round."""
    if name not in runs or any(peer not in runs for peer in peers):
        return None
    return statistics.median(
        mine.wall_s / max(run.wall_s for run in others)
        for mine, *others in zip(runs[name], *(runs[peer] for peer in peers)))


def marks(runs, size):
    """(what, figure or None, mark): a figure must not be above its mark."""
    yield "plain / cat", ratio(runs, "tscope", "cat"), 10
    yield "plain / simdjson On Demand", ratio(runs, "tscope", "simdjson"), 1
    yield ("gz / slower of plain --threads 1, igzip -dc",
           ratio(runs, "tscope gz", "tscope --threads 1", "igzip -dc"), 1.3)
    yield ("zst / slower of plain --threads 1, zstd -dc",
           ratio(runs, "tscope zst", "tscope --threads 1", "zstd -dc"), 1.3)
    peak = max(run.peak_bytes for name, made in runs.items() if name.startswith("tscope")
               for run in made)
    yield "peak memory / size of the trace", peak / size, 0.15
    # For orientation, without a mark.
    yield "plain --threads 1 / cat", ratio(runs, "tscope --threads 1", "cat"), None
    yield ("plain --threads 1 / simdjson On Demand",
           ratio(runs, "tscope --threads 1", "simdjson"), None)
    yield "gz / igzip -dc", ratio(runs, "tscope gz", "igzip -dc"), None
    yield "zst / zstd -dc", ratio(runs, "tscope zst", "zstd -dc"), None


def print_marks(runs, size):
    for what, figure, mark in marks(runs, size):
        if figure is None:
            print(f"{what}: not measured, a program is missing")
        elif mark is None:
            print(f"{what}: {figure:.3f}")
        else:
            verdict = "reached" if figure <= mark else "NOT REACHED"
            print(f"{what}: {figure:.3f} (mark {mark}): {verdict}")


def check_reports(tscope, files, rank):
    results = program.Results()
    for packing, path in files.items():
        report = program.Program(tscope).report(path)
        check_truth.check_report(results, packing, rank, report)
        check_truth.check_flops(results, packing, rank, report)
    return results.exit_status()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("--simdjson", help="the program simdjson_fields")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) / "tscope-bench")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    folder = pathlib.Path(os.environ.get("TSCOPE_BENCH_DIR", arguments.folder))
    files, rank = prepare(folder)
    runs = measure(commands(arguments.tscope, arguments.simdjson, files), arguments.rounds)
    print_runs(runs, rank["bytes"])
    print_marks(runs, rank["bytes"])
    return check_reports(arguments.tscope, files, rank)


if __name__ == "__main__":
    sys.exit(main())
