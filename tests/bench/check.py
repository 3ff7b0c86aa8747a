#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what the benches ran with the truth: speed cannot come from work left out, neither ours
nor a peer's.

usage: check.py TSCOPE FOLDER SIMDJSON GROUP...

FOLDER and the groups are those of run.py; SIMDJSON may be empty.
"""
import json
import pathlib
import subprocess
import sys

import inputs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
import check_truth  # noqa: E402 (found by the paths above)
import compare_memory  # noqa: E402
import program  # noqa: E402

MODES = ("load", "batches")


class Checks:
    """The programs, the folder of inputs, and what agreed so far."""

    def __init__(self, tscope, folder, simdjson):
        self.tscope, self.folder = program.Program(tscope), folder
        self.simdjson, self.results = simdjson, program.Results()

    def report(self, label, trace, path, *, size=None):
        """size: of the text, where it is another text of the same events."""
        report = self.tscope.report(path)
        truth = {**trace.truth, "bytes": size or trace.size}
        check_truth.check_report(self.results, label, truth, report)
        check_truth.check_flops(self.results, label, truth, report)

    def counts(self, path):
        """Mode → the counts that simdjson printed, or what it said."""
        for mode in MODES if self.simdjson else ():
            done = subprocess.run([self.simdjson, mode, path], capture_output=True, text=True,
                                  check=False)
            words = done.stdout.split()
            yield mode, {"events": int(words[1]), "all": done.stdout} if words else {
                "events": None, "all": done.stderr}

    def peer(self, label, path, events):
        counts = dict(self.counts(path))
        for mode, count in counts.items():
            self.results.check(f"{label} simdjson {mode} events", events, count["events"])
        self.results.check(f"{label} simdjson's counts", 1,
                           len({count["all"] for count in counts.values()}) or 1)


def check_large(checks):
    trace = inputs.trace(checks.folder / "g1", "1G")
    for ending in ("plain", *inputs.PACKERS):
        for path in {trace.packed(ending), ending != "plain" and trace.packed_in_parts(ending)}:
            if path:
                checks.report(path.name, trace, path)
    checks.peer("g1", trace.plain, trace.events)


def check_memory(checks):
    trace = inputs.trace(checks.folder / "g4", "4G")
    checks.report("g4", trace, trace.plain)


def check_ranks(checks):
    _, slow = inputs.ranks(checks.folder / "r8")
    done = checks.tscope.run("report", "--format", "json", "--full", checks.folder / "r8")
    facts = json.loads(done.stdout)["runs"][0]["facts"]["distributed"]
    checks.results.check("ranks", 8, len(facts["ranks"]))
    checks.results.check("slow ranks", slow, [row["rank"] for row in facts["slow_ranks"]])


def check_layouts(checks):
    trace = inputs.trace(checks.folder / "m100", "100M")
    for layout, path in inputs.other_layouts(checks.folder / "layouts", trace).items():
        checks.report(layout, trace, path, size=path.stat().st_size)
        checks.peer(layout, path, trace.events)
    for _, path in inputs.real_traces(checks.folder / "real"):
        checks.peer(path.name, path, checks.tscope.report(path)["inputs"][0]["events"])


def check_snapshot(checks):
    for path in (checks.folder / "snapshot").glob("*.pickle"):
        truth = json.loads(pathlib.Path(f"{path}.truth.json").read_text())
        facts = compare_memory.Program(checks.tscope.path).facts(path)["snapshot"]
        found = list(compare_memory.snapshot_differences(truth["figures"], facts))
        checks.results.check(path.name, [], found[:3])


GROUPS = {"large": check_large, "memory": check_memory, "ranks": check_ranks,
          "layouts": check_layouts, "snapshot": check_snapshot}


def main():
    tscope, folder, simdjson, *groups = sys.argv[1:]
    checks = Checks(tscope, pathlib.Path(folder), simdjson)
    checked = [group for group in groups if group in GROUPS]
    for group in checked:
        GROUPS[group](checks)
    return checks.results.exit_status() if checked else 0


if __name__ == "__main__":
    sys.exit(main())
