#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reasons for which rules are not evaluated, and claims about memory, over all traces of the shared
folder: a rule never asks for what the trace has, and idle memory of a device with room to spare is
no finding.

usage: check_reasons.py tscope
"""
import json
import sys

import program

# What a reason may ask for, and the fact that counts it.
WANTED = {"a trace with launch calls": ("launches", "launch_count"),
          "a trace with collectives": ("collectives", "count"),
          "a trace with kernels": ("kernels", "count"),
          "a trace with copies or fills": ("copies", "count"),
          "a trace with device activity": ("integrity", "device_event_count"),
          "communication on a device": ("overlap", "comm_ns"),
          "the shapes of operators": ("flops", "by_operator")}


def reports(tscope):
    """(path, report) of every file that holds a trace."""
    for path in sorted(program.DATA.rglob("*.json*")):
        done = tscope.run("report", "--format", "json", "--full", path) if path.is_file() else None
        if done and done.returncode in (0, 1) and done.stdout:
            report = json.loads(done.stdout)["runs"][0]
            if (report["facts"].get("integrity") or {}).get("event_count"):
                yield program.short(path), report


# What may be missing beside it: a trace of the capture of graphs has no step.
STEP = " and a complete step"


def lacks_step(report):
    return not (report["facts"].get("step_time") or {}).get("count")


def false_reasons(report):
    for entry in report["not_evaluated"]:
        for words, (analyzer, fact) in WANTED.items():
            if words + STEP in entry["reason"] and lacks_step(report):
                continue
            if words in entry["reason"] and (report["facts"].get(analyzer) or {}).get(fact):
                yield f"{entry['id']}: {entry['reason']}"


def idle_with_room(report):
    """MEMORY.FRAGMENTATION above low, though less than half of the device is reserved."""
    reserved = (report["facts"].get("memory") or {}).get("peak_reserved_bytes")
    memory = (report["facts"].get("device_busy") or {}).get("memory_max_bytes")
    if reserved and memory and reserved < memory / 2:
        for finding in report["findings"]:
            if finding["id"] == "MEMORY.FRAGMENTATION":
                yield finding["title"]


def main():
    tscope, results = program.Program(sys.argv[1]), program.Results()
    program.need(program.DATA)
    for name, report in reports(tscope):
        results.check(f"{name}: reasons", [], list(false_reasons(report)))
        results.check(f"{name}: memory", [], list(idle_with_room(report)))
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
