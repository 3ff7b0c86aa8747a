#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A signal that ends the program leaves what was there, or all that was asked for, and nothing else.

usage: signals.py TSCOPE TESTDATA FAIL_CALL [--runs N] [--only WORD]
(default: each signal after every call of every command; only those with the word in their name)

SIGINT, SIGTERM or SIGHUP arrives as a system call returns, of each command that writes: once where nothing is there
yet, once where older files are. The program ends by it, each file is the old one or the whole new one, no folder that
was made is empty, and a database has all of the run or none.
"""
import argparse
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile

import failures

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CALLS = ("open", "write", "fsync", "close", "rename", "mkdir", "chmod", "unlink")
# {data}, {made}: as for failures.py. Each command writes into an empty folder, and over old files.
COMMANDS = {
    "report to a file": "report --format json --output out.json {data}/run_healthy",
    "report to a page": "report --quiet --format html=page.html {data}/run_healthy",
    "metrics": "report --format metrics --output history.jsonl {data}/run_healthy",
    "job summary": "report --format github {data}/ranks_slow_link",
    "trace with stacks": "trace --quiet --flamegraph stacks {data}/two_steps.json",
    "memory with stacks": "memory --quiet --flamegraph stacks {data}/oom.pickle",
    "slice": "slice --out slice.json {data}/two_steps.json",
    "slice, packed": "slice --out slice.json.gz {data}/two_steps.json",
    "slice of a run": "slice --out slice.json {data}/ranks_slow_loader",
    "map": "map --force --out folder {data}/ranks_slow_loader/rank1.pt.trace.json.gz {data}/run_healthy/rank0/steps.jsonl",
    "merge": "merge --out folder.tsr {made}/maps",
    "export": "export --force --out folder {data}/run_healthy",
    "export to CSV": "export --force --to csv:folder {data}/run_healthy",
    "export to a database": "export --to folder.sqlite {data}/run_healthy",
}


def content_of(path):
    """A database by what it says, after SQLite has taken back what is half."""
    if path.suffix != ".sqlite":
        return path.read_bytes()
    with sqlite3.connect(path) as database:
        return database.execute("PRAGMA integrity_check").fetchall() + list(database.iterdump())


def contents(folder):
    """Of files by their names, and None of folders."""
    for path in folder.rglob("*.sqlite"):
        content_of(path)
    return {str(path.relative_to(folder)): content_of(path) if path.is_file() else None
            for path in folder.rglob("*")}


def problem_of(code, number, before, whole, after):
    if code not in (128 + number, 0):
        return f"exit code {code}"
    if code == 0 and after != whole:
        return "exit 0, and not all was written"
    for name, content in after.items():
        if content is None and name not in before and not any(path.startswith(name + "/") for path in after):
            return f"{name} is empty"
        if content not in (before.get(name), whole.get(name)):
            return f"{name} is neither the old one nor the new one" if name in whole else f"{name} stays"
    return next((f"{name} is lost" for name in before if name not in after), None)


class Situation:
    """A command, and the files that are there when it starts."""

    def __init__(self, runner, key, arguments, files):
        self.key, self.arguments, self.files = key, arguments, files
        runner.before = files
        code, _, _, said, self.counts, _ = runner.run(arguments, "open", 0)
        if code != 0:
            sys.exit(f"{key}: {said}")
        self.whole = contents(runner.folder)
        runner.start()
        self.before = contents(runner.folder)

    def problem(self, runner, call, place, number):
        runner.before = self.files
        code, *_, about = runner.run(self.arguments, call, place, -number)
        problem = problem_of(code, number, self.before, self.whole, contents(runner.folder))
        return problem and f"{self.key}: {number.name} after {call} {place} ({about}): {problem}"


def situations_of(runner, key, arguments):
    """Into an empty folder; over what cannot be taken for anything, in a database for another run."""
    new = {"summary.md": b""} if "github" in arguments else {}  # the runner of jobs makes it
    yield Situation(runner, key, arguments, new)
    if ".sqlite" in arguments[2]:
        yield Situation(runner, key, [word.replace("run_healthy", "run_before") for word in arguments], new)
    old = {str(path.relative_to(runner.folder)): path.read_bytes() if path.suffix == ".sqlite" else b"old\n"
           for path in runner.folder.rglob("*") if path.is_file()}
    yield Situation(runner, key + " over old files", arguments, old)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs=3)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    program, data, fail_call = map(os.path.abspath, chosen.paths)
    if subprocess.run([fail_call, "open", "0", "0", program, "--version"], capture_output=True,
                      check=False).returncode != 0:
        print("system calls cannot be followed here")
        sys.exit(77)
    features = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    cases, wrong = [], 0
    with tempfile.TemporaryDirectory() as place:
        runner = failures.Runner(program, fail_call, "", pathlib.Path(place) / "here")
        made = pathlib.Path(place) / "made"
        failures.make_inputs(program, data, made)
        loader = runner.run(["--version"], "open", 0)[4]
        for key, line in COMMANDS.items():
            if chosen.only not in key or (".sqlite" in line and "sqlite: not built in" in features):
                continue
            arguments = [*line.format(data=data, made=made).split(), "--threads", "1"]
            cases += [(situation, call, number, signal_number)
                      for situation in situations_of(runner, key, arguments)
                      for call in CALLS for number in range(1 + loader[call], situation.counts[call] + 1)
                      for signal_number in SIGNALS]
        if chosen.runs is not None and chosen.runs < len(cases):
            cases = random.Random(1).sample(cases, chosen.runs)
        for situation, *case in cases:
            problem = situation.problem(runner, *case)
            if problem:
                wrong += 1
                print(problem)
    print(f"{len(cases)} signals, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
