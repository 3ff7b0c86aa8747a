#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report of an archive says what a report of the folder says that it was made of: every fact,
table, finding, gate, note and problem.

usage: archives.py TSCOPE FOLDER... [--every] [--generate RANKS] [--members N]

Each FOLDER that is a run, or several, becomes a tar, a compressed tar, a zip and a stream, which
lie elsewhere under the same name. --every takes each folder below; --generate adds made jobs.
--members: archives of N members and a quarter of that, too, hold as many ranks, and time and memory
grow no faster than their number.
"""
import argparse
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import differences
import map as mapped

WAYS = ("tar", "tar.gz", "zip", "stream")


def report(program, place, name, stream=False):
    """Exit code, JSON and what was said of a strict report with gates; the paths begin at place."""
    gates = [word for gate in mapped.GATES for word in ("--fail-on", gate)]
    with open(pathlib.Path(place) / name if stream else "/dev/null", "rb") as data:
        with subprocess.Popen(["cat"], stdin=data, stdout=subprocess.PIPE) as pipe:
            done = subprocess.run([program, "report", "--strict", "--format", "json", *gates,
                                   "-" if stream else name], cwd=place, capture_output=True,
                                  stdin=pipe.stdout, check=False)
    text, said = done.stdout.decode(), done.stderr.decode(errors="replace")
    if stream:
        text, said = (re.sub(r"(?<![\w/.-])-/", f"{name}/", what) for what in (text, said))
        text = text.replace('"-"', f'"{name}"')
    return done.returncode, json.loads(text) if text else None, said


def pack(folder, target, way):
    """All that is in the folder, in an order that is not that of names."""
    paths = sorted(folder.rglob("*"))
    random.Random(7).shuffle(paths)
    if way == "zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for path in paths:
                archive.write(path, path.relative_to(folder))
        return
    with tarfile.open(target, "w:gz" if way == "tar.gz" else "w") as archive:
        for path in paths:
            archive.add(path, path.relative_to(folder), recursive=False)


def compare(program, folder):
    """What is wrong with archives of one folder; None: it is no run."""
    direct = report(program, folder.parent, folder.name)
    if direct[1] is None:
        return None
    problems = []
    for way in WAYS:
        with tempfile.TemporaryDirectory() as place:
            pack(folder, pathlib.Path(place) / folder.name, way)
            packed = report(program, place, folder.name, way == "stream")
        found = list(differences.between(direct[1], packed[1], f"in a {way}"))
        if packed[0] != direct[0] or packed[2] != direct[2]:
            found.append(f"exit {direct[0]} and {direct[2][:200]!r} directly, "
                         f"{packed[0]} and {packed[2][:200]!r} in a {way}")
        problems += [f"{folder}, {way}: {text}" for text in found[:3]]
    return problems


def pack_records(target, way, count):
    """A job of so many ranks, each a file of a few step records."""
    def records(rank):
        return "".join(json.dumps({"step": step, "step_time_s": 0.4, "phases": {"compute": 0.35 + rank % 7 / 1000}})
                       + "\n" for step in range(3)).encode()

    names = ((f"run/rank{rank}/steps.jsonl", records(rank)) for rank in range(count))
    if way == "zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in names:
                archive.writestr(name, data)
        return
    with tarfile.open(target, "w:gz" if way == "tar.gz" else "w") as archive:
        for name, data in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def cost(program, archive):
    """Inputs of the report, seconds of processor time and bytes of memory."""
    saved = archive.with_suffix(".report.json")
    with subprocess.Popen([program, "report", "--format", "json", "--ranks", "summary",
                           "--output", saved, archive]) as run:
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    report = json.loads(saved.read_text())["runs"][0] if run.returncode == 0 else None
    return (report and len(report["inputs"]), usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss)


def grow(program, count):
    """What is wrong with archives of many members. Four times as many may take six times as much."""
    for way in ("tar", "tar.gz", "zip"):
        costs = []
        for members in (count // 4, count):
            with tempfile.TemporaryDirectory() as place:
                archive = pathlib.Path(place) / f"many.{way}"
                pack_records(archive, way, members)
                costs.append(min((cost(program, archive) for _ in range(2)), key=lambda one: one[1]))
            if costs[-1][0] != members:
                yield f"{way} of {members} members: {costs[-1][0]} ranks"
        print(f"{way}: {costs[0][1]:.2f} and {costs[1][1]:.2f} s, {costs[0][2] >> 10} and {costs[1][2] >> 10} MiB")
        for what, few, many in (("time", costs[0][1], costs[1][1]), ("memory", costs[0][2], costs[1][2])):
            if many > 6 * few:
                yield f"{way}: {count} members take {many / few:.1f} times the {what} of {count // 4}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--generate", type=int, metavar="RANKS")
    parser.add_argument("--members", type=int, metavar="N")
    options = parser.parse_intermixed_args()
    program = options.program.resolve()
    if "libarchive: not built in" in mapped.run(program, "--version").stdout.decode():
        print("this build has no libarchive")
        return 77
    folders = options.folders
    if options.every:
        folders = sorted(below for path in folders for below in path.iterdir() if below.is_dir())
    compared, problems = 0, []
    with tempfile.TemporaryDirectory() as made:
        if options.generate:
            folders = [*folders, *mapped.generated(pathlib.Path(made), options.generate)]
        for folder in folders:
            found = compare(program, folder.resolve())
            compared += found is not None
            problems += found or []
    if options.members:
        problems += grow(program, options.members)
    return mapped.summarize(compared, problems)


if __name__ == "__main__":
    sys.exit(main())
