#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generated histories: a change is found where it is, and none where there is none.

usage: trend.py TSCOPE [COUNT]

COUNT (20) histories of 300 runs whose figures vary by 2 % from run to run get 3 % slower with run
151, and as many do not. Also the newest run is judged: 15 % slower it trips a gate, as the others
it does not.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

RUNS, CHANGED, NOISE, CHANGE = 300, 150, 0.02, 0.03
GATE = "step_time.mean_ns>+10% of trend"


def write_history(path, rng, change, newest=1.0):
    with path.open("w", encoding="utf-8") as out:
        for run in range(RUNS):
            level = (1 + change if run >= CHANGED else 1) * (newest if run == RUNS - 1 else 1)
            for fact, unit, value in (("step_time.mean_ns", "ns", 1e8 * level),
                                      ("step_time.p95_ns", "ns", 1.2e8 * level),
                                      ("launches.delay_mean_ns", "ns", 2e4), ("kernels.count", "count", 500)):
                value = round(value * (1 + NOISE * rng.gauss(0, 1))) if unit == "ns" else value
                out.write(json.dumps({"run": "nightly", "time": f"2026-01-01T00:{run // 60:02}:{run % 60:02}Z",
                                      "fact": fact, "value": value, "unit": unit}) + "\n")


def trend(program, path, *options):
    done = subprocess.run([program, "trend", "--format", "json", "--full", *options, str(path)], check=False,
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{path}: exit {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)["runs"][0]["facts"]["history"]["changes"]


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rng = random.Random(26)
    found = covered = claimed = tripped = held = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "history.jsonl"
        for _ in range(count):
            write_history(path, rng, CHANGE)
            steps = [row for row in trend(program, path)[1] if row["figure"] == "step_ns"]
            found += len(steps) == 1 and abs(steps[0]["run"] - CHANGED - 1) <= 20
            covered += len(steps) == 1 and steps[0]["earliest"] <= CHANGED + 1 <= steps[0]["latest"]
            write_history(path, rng, 0)
            code, changes = trend(program, path, "--fail-on", GATE)
            claimed += len(changes) > 0
            held += code == 0
            write_history(path, rng, 0, 1.15)
            tripped += trend(program, path, "--fail-on", GATE)[0]
    print(f"{count} histories with a change of 3 %: found in {found}, run {CHANGED + 1} in the interval in {covered}; "
          f"of {count} without one claimed in {claimed}; gate held in {held}, tripped by a run of +15 % in {tripped}")
    wrong = found < 0.99 * count or covered < 0.9 * count or claimed > 0 or held < count or tripped < 0.99 * count
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
