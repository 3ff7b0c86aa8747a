#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report of an archive says what a report of the folder says that it was made of: every fact,
table, finding, gate, note and problem.

usage: archives.py TSCOPE FOLDER... [--every] [--generate RANKS]

Each FOLDER that is a run, or several, becomes a tar, a compressed tar, a zip and a stream, which
lie elsewhere under the same name. --every takes each folder below; --generate adds made jobs.
"""
import argparse
import json
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--generate", type=int, metavar="RANKS")
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
    return mapped.summarize(compared, problems)


if __name__ == "__main__":
    sys.exit(main())
