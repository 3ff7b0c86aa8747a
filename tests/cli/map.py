#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report of what tscope map made of files says what a report of the files says: every fact,
table, finding, gate, note and problem, but for files that are none of a run's.

usage: map.py TSCOPE PATH... [--generate RANKS] [--every]

Each PATH that is a run, or a folder of runs, is mapped in 1, 3 and 8 shards, and read from a folder
and as one file, in any order. Merges of merges are byte for byte the merge of all. --every takes
each folder below PATH. --generate adds made jobs.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import differences

# Captures are joined to replays where one reading has both.
JOINED = {"serving_capture", "serving_graphs"}
GATES = ("straggler", "step_time.mean_ns>1", "severity>=med")


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, check=False)


def report(program, *paths):
    """Exit code, JSON and what was said of a report that is strict and has gates."""
    gates = [word for gate in GATES for word in ("--fail-on", gate)]
    done = run(program, "report", "--strict", "--format", "json", *gates, *paths)
    document = json.loads(done.stdout) if done.stdout else None
    return done.returncode, without_ignored(document), done.stderr.decode(errors="replace")


def without_ignored(document):
    """Files that are no part of any run are not mapped."""
    if isinstance(document, dict):
        return {key: without_ignored(value) for key, value in document.items() if key != "ignored"}
    if isinstance(document, list):
        return [without_ignored(item) for item in document]
    return document


def map_shards(program, path, folder, count):
    for i in range(count):
        done = run(program, "map", "--quiet", "--shard", f"{i}/{count}", "--out", folder, path)
        if done.returncode not in (0, 3):
            yield f"map --shard {i}/{count}: exit {done.returncode}: {done.stderr.decode()[:300]}"


def merge(program, target, files):
    """What keeps files from being merged, as a list."""
    done = run(program, "merge", "--quiet", "--out", target, *files)
    return [] if done.returncode == 0 else [f"merge: exit {done.returncode}: {done.stderr.decode()[:300]}"]


def merge_all(program, folder, files, random_numbers):
    """Of all, and of merges of parts that overlap, in other orders: what is wrong with these."""
    whole, again, halves = folder / "whole.tsr", folder / "again.tsr", []
    problems = merge(program, whole, files)
    for i in range(2):
        halves.append(folder / f"half{i}.tsr")
        part = files[i * len(files) // 3:len(files) - (1 - i) * len(files) // 3]
        problems += merge(program, halves[i], random_numbers.sample(part, len(part)))
    problems += merge(program, again, random_numbers.sample([*halves, whole], 3))
    if not problems and whole.read_bytes() != again.read_bytes():
        problems.append("merge: a merge of merges is not the merge of all")
    return whole, problems


def compare(program, path, shard_counts, random_numbers):
    """What is wrong with the maps of one path; None: it is no run."""
    direct = report(program, path)
    if direct[1] is None:
        return None
    problems = []
    for count in shard_counts:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder) / "mapped"
            problems += map_shards(program, path, folder, count)
            files = sorted(folder.glob("*.tsr"))
            random_numbers.shuffle(files)
            merged = folder.parent / "merged.tsr"
            merged.write_bytes(b"".join(file.read_bytes() for file in files))
            half = len(files) // 2
            whole, wrong = merge_all(program, folder.parent, files, random_numbers)
            problems += [f"{path}, {count} shards, {text}" for text in wrong]
            for name, paths in (("folder", [folder]), ("file", [merged]), ("merge", [whole]),
                                ("twice", [*files[:half], merged])):
                mapped = report(program, *paths)
                found = list(differences.between(direct[1], mapped[1], "mapped"))
                if mapped[0] != direct[0] or mapped[2] != direct[2]:
                    found.append(f"exit {direct[0]} and {direct[2][:200]!r} directly, "
                                 f"{mapped[0]} and {mapped[2][:200]!r} mapped")
                problems += [f"{path}, {count} shards, {name}: {text}" for text in found[:3]]
    return problems


def generated(folder, ranks):
    """Jobs of so many ranks: one with a slow rank, a damaged trace, a missing rank."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reference"))
    import make_ranks  # pylint: disable=import-outside-toplevel
    jobs = {"slow": ["--fault", "slow_clock", "--fault-rank", "3", "--fault-size", "0.3"], "plain": [], "cut": [], "missing": []}
    for name, options in jobs.items():
        make_ranks.make(folder / name, ["--ranks", str(ranks), "--steps", "4", *options])
    traces = sorted((folder / "cut").glob("rank*.json"))
    traces[1].write_bytes(traces[1].read_bytes()[:-20000])
    (folder / "missing" / traces[2].name).unlink()
    return [folder / name for name in jobs]


def summarize(compared, problems):
    """Prints what differs; the exit code, which is 1 as well where nothing could be compared."""
    for problem in problems:
        print(problem)
    print(f"{compared} runs compared, {len(problems)} differences")
    return 1 if problems or compared == 0 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--generate", type=int, metavar="RANKS")
    parser.add_argument("--every", action="store_true")
    options = parser.parse_intermixed_args()
    if "zstd: not built in" in run(options.program, "--version").stdout.decode():
        print("this build has no zstd")
        return 77
    random_numbers = random.Random(1)
    compared, problems = 0, []
    with tempfile.TemporaryDirectory() as folder:
        paths = options.paths
        if options.every:
            paths = sorted(below for path in paths for below in path.iterdir()
                           if below.is_dir() and below.name not in JOINED)
        made = generated(pathlib.Path(folder), options.generate) if options.generate else []
        for path in [*paths, *made]:
            counts = (1, 3, 8) if path in made else (3,)
            found = compare(options.program, path, counts, random_numbers)
            compared += found is not None
            problems += found or []
    return summarize(compared, problems)


if __name__ == "__main__":
    sys.exit(main())
