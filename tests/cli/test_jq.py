#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The jq examples of the manual print something; findings, budgets and steps agree in JSON.

usage: test_jq.py TSCOPE SOURCE_ROOT
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
MIN_EXAMPLES = 10
# What stands for the files of the examples.
INPUTS = {"t.json": "two_steps.json", "rank0.json": "two_steps.json", "run": "ranks_slow_loader",
          "traces/": "ranks_slow_loader", "a": "run_before", "b": "run_after", "timeline.json.gz": "memory_timeline.json.gz"}
# Paths of JSON are the same whatever was read.
KINDS = (("trace", "two_steps.json"), ("trace", "cpu_only.json"), ("report", "run_mixed"),
         ("report", "three_jobs"), ("memory", "leak_a.pickle"), ("hang", "hang_size"))


def examples(root):
    for page in sorted((root / "man").glob("*.[157]")):
        text = re.sub(r"\|\n +", "| ", page.read_text())
        for line in text.splitlines():
            if line.startswith("$ tscope ") and "jq " in line:
                yield page.name, line[2:].replace("\\e", "\\")


def run_example(line, program, data):
    words = [INPUTS.get(word, word) for word in line.split(" ")]
    return subprocess.run(["sh", "-c", " ".join(words).replace("tscope", program, 1)], cwd=data, check=False,
                          capture_output=True, text=True, timeout=60)


def problems_of_examples(root, program):
    count = 0
    for page, line in examples(root):
        count += 1
        done = run_example(line, program, root / "testdata")
        if done.returncode != 0 or done.stdout.strip() in ("", "null") or "cannot" in done.stderr:
            yield f"{page}: {line}: {done.stdout!r} {done.stderr!r}"
    if count < MIN_EXAMPLES:
        yield f"only {count} examples were found"


def problems_of_run(name, run):
    for key in ("facts", "findings", "inputs"):
        if key not in run:
            yield f"{name}: .runs[].{key} is missing"
    for finding in run["findings"]:
        for key in ("id", "severity", "title", "subject", "at", "gain_ns"):
            if key not in finding:
                yield f"{name}: {finding['id']} has no {key}"
    budget, steps = run["facts"].get("budget"), run["facts"].get("step_time")
    if budget and steps and budget.get("step_count") and run["kind"] == "trace":
        mean_ns = budget["wall_total_ns"] / budget["step_count"]
        if abs(mean_ns - steps["mean_ns"]) > 1:
            yield f"{name}: a step of the budget takes {mean_ns}, a mean step {steps['mean_ns']} ns"


def problems_of_paths(data, program):
    for command, name in KINDS:
        done = subprocess.run([program, command, "--format", "json", data / name], check=False,
                              capture_output=True, timeout=60)
        for run in json.loads(done.stdout)["runs"]:
            yield from problems_of_run(name, run)


def why_no_examples(program):
    """Why the examples cannot be run here, or an empty text: some read a file that is gzip's."""
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    if not shutil.which("jq"):
        return "jq is not installed"
    return "" if re.search(r"^(zlib|isa-l) [0-9]", version, re.MULTILINE) else "this build cannot read gzip"


def main():
    program, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    problems = list(problems_of_paths(root / "testdata", program))
    lacks = why_no_examples(program)
    if not lacks:
        problems += problems_of_examples(root, program)
    print("\n".join(problems))
    if not problems and lacks:
        print(f"{lacks}: the examples were not run")
        return SKIPPED
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
