#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One bad rank of many keeps nobody from the slow one: it is named, and the report goes on.

usage: check_quorum.py TSCOPE [--ranks N]

Of a made job with a slow rank one trace is cut short, empty, missing, says another rank's number, or
numbers its steps as no other does. Each time the report, of the traces and of what tscope map made
of them, must name the slow rank in its gate and its finding, and the bad one, and exit with 3.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import make_ranks


def cut(path):
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def missing(path):
    path.unlink()


def other_steps(path):
    path.write_text(re.sub(r"ProfilerStep#(\d+)", lambda m: f"ProfilerStep#{int(m[1]) + 500}",
                           path.read_text()))


def other_rank(path):
    text = path.read_text()
    rank = int(re.search(r'"rank": ?(\d+)', text)[1])
    path.write_text(re.sub(r'"rank": ?\d+', f'"rank":{rank + 1}', text, count=1))


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def wrong(program, path, slow, bad):
    """What the report of a job with a slow and a bad rank fails to say."""
    done = run(program, "report", "--strict", "--fail-on", "straggler", "--format", "json", path)
    report = json.loads(done.stdout)["runs"][0] if done.stdout else {"findings": [], "gates": []}
    if done.returncode != 3:
        yield f"exit {done.returncode} with --strict"
    stragglers = [finding for finding in report["findings"] if finding["id"] == "DIST.STRAGGLER"]
    if not any(f"rank {slow} " in finding["title"] for finding in stragglers):
        yield f"rank {slow} is not found to be slow: {[found['title'] for found in stragglers]}"
    if [gate["reason"] for gate in report["gates"]] != [f"slow: rank {slow}"]:
        yield f"gates: {report['gates']}"
    if not re.search(rf"\brank ?{bad}\b|missing: {bad}\b", done.stderr):
        yield f"rank {bad} is not named: {done.stderr[:300]!r}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--ranks", type=int, default=128)
    options = parser.parse_args()
    slow, bad = options.ranks // 3, 2 * options.ranks // 3
    can_map = "zstd: not built in" not in run(options.program, "--version").stdout
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        made = folder / "made"
        make_ranks.make(made, ["--ranks", options.ranks, "--steps", 10, "--layers", 2, "--buckets",
                               2, "--compact", "--fault", "slow_clock", "--fault-rank", slow,
                               "--fault-size", 0.3])
        (made / "truth.json").unlink()
        trace = made / f"rank{bad}.pt.trace.json"
        whole = trace.read_bytes()
        for spoil in (cut, empty, missing, other_steps, other_rank):
            trace.write_bytes(whole)
            spoil(trace)
            paths = [made]
            if can_map:
                run(options.program, "map", "--quiet", "--out", folder / spoil.__name__, made)
                paths.append(folder / spoil.__name__)
            for path in paths:
                for problem in wrong(options.program, path, slow, bad):
                    print(f"{spoil.__name__}, {path.name}: {problem}")
                    problems += 1
    print(f"{options.ranks} ranks, one of them bad in 5 ways: {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
