#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a report takes more instructions than it did: this tree against an older commit, built
alike on this machine (compiler, C library and codecs change the count, so none is stored).

usage: marks_gate.py [--base COMMIT] [--limit PERCENT] [--folder FOLDER]

Counts what `tscope trace --threads 1` takes by valgrind's callgrind, on generated and real traces.
Exit status 1: one takes more by over the limit. Two builds and a minute; the folder keeps them.
"""
import argparse
import pathlib
import subprocess
import sys

import inputs
import program
import stages

BASE = "1ce0fd0"  # who means a report to cost more says why, and moves it
SETUP = ["--buildtype=release", "-Dtests=false", "-Disal=disabled"]
GENERATED = {"m100": ["--size", "100M", *inputs.GENERATE], "60M": ["--size", "60M", "--layout", "hta"]}
REAL = ["nccl_data", "capture_trace_rank_0", "worker0", "graph_execution"]
SMALL = "AMD-AGI+TraceLens/tests/traces/inference/vllm_decode_full/graph_execution.json.gz"


def build(source, folder):
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", *SETUP, folder, source], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "tscope"], check=True, stdout=subprocess.DEVNULL)
    return folder / "tscope"


def build_base(commit, folder):
    source = folder / f"source-{commit}"
    if not source.exists():
        source.mkdir(parents=True)
        archive = subprocess.run(["git", "-C", program.SOURCE_ROOT, "archive", commit], check=True,
                                 stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
    return build(source, folder / f"build-{commit}")


def traces(folder):
    """(name, path) of those that can be had here."""
    if (program.SHARED / "tools" / "gen_trace.py").exists():
        for name, options in GENERATED.items():
            yield name, folder / name / inputs.generate(folder / name, options)["ranks"][0]["file"]
    inputs.REAL_TRACES.append(SMALL)
    for _, path in inputs.real_traces(folder):
        if path.name.startswith(tuple(REAL)):
            yield path.name, path


def compare(programs, path):
    """Instructions of the older program and of this one."""
    return [stages.count([program, "trace", "--threads", "1", path]) for program in programs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", default=BASE)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--folder", type=pathlib.Path, default=program.SOURCE_ROOT / "build" / "marks")
    options = parser.parse_args()
    folder = options.folder.absolute()
    if not stages.is_there():
        print("skipped: no valgrind")
        return program.SKIPPED
    programs = [build_base(options.base, folder), build(program.SOURCE_ROOT, folder / "build-head")]
    failed = False
    print(f"{'trace':40} {options.base:>10} {'this tree':>10}    change   (million instructions)")
    for name, path in traces(folder):
        before, after = compare(programs, path)
        change = (after / before - 1) * 100
        failed |= change > options.limit
        print(f"{name[:40]:40} {before / 1e6:10.2f} {after / 1e6:10.2f} {change:+8.2f} %"
              f"{'   TOO MUCH' if change > options.limit else ''}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
