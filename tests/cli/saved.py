#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report of a saved report says what the report says: every fact of the run and its ranks, every
finding, and of each gate what it says and whether it holds.

usage: saved.py TSCOPE PATH...

Each PATH is reported as JSON with --full, and that file is reported again; of several runs none is.
Why a gate cannot tell names a file, and there the saved report.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import differences

GATES = ("straggler", "step_time.mean_ns>1", "severity>=med", "budget.compute_total_ns>1", "memory.peak_alloc_bytes>1")
KEPT = ("facts", "ranks", "findings", "not_evaluated", "gates")


def report(tscope, path, *options):
    gates = [word for gate in GATES for word in ("--fail-on", gate)]
    return subprocess.run([tscope, "report", "--full", "--format", "json", *gates, *options, path],
                          capture_output=True, check=False)


def figures(document):
    run = document["runs"][0]
    for gate in run["gates"]:
        gate["reason"] = gate["reason"].partition("inconclusive: ")[1] or gate["reason"]
    return {key: run[key] for key in KEPT}


def compare(tscope, path, folder):
    """None: it is no report of one run; else what differs."""
    direct = report(tscope, path)
    document = json.loads(direct.stdout) if direct.stdout else None
    if not document or len(document["runs"]) != 1:
        return None
    saved = folder / "saved.json"
    saved.write_bytes(direct.stdout)
    again = report(tscope, saved)
    if not again.stdout:
        return [again.stderr.decode()[:300]]
    found = list(differences.between(figures(document), figures(json.loads(again.stdout)), "saved"))
    strict = [report(tscope, of, "--strict").returncode for of in (path, saved)]
    for name, pair in (("exit", [direct.returncode, again.returncode]), ("strict exit", strict)):
        if pair[0] != pair[1]:
            found.append(f"{name}: {pair[0]} directly, {pair[1]} saved")
    return found


def main():
    tscope, problems, compared = sys.argv[1], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sys.argv[2:]:
            found = compare(tscope, path, pathlib.Path(folder))
            compared += found is not None
            problems += [f"{path}: {text}" for text in (found or [])[:4]]
    for problem in problems:
        print(problem)
    print(f"{compared} reports saved and reported, {len(problems)} differences")
    return 1 if problems or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
