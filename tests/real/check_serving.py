#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of inference engines: their iterations and phases as an independent reading of the raw
annotations has them, captures of graphs that are no part of a run, and no advice for training.

usage: check_serving.py TSCOPE
"""
import gzip
import json
import re
import sys

import program

INFERENCE = program.DATA / "AMD-AGI+TraceLens/tests/traces/inference"
# Folder → the replay's own time in ms, which the capture beside it must not change.
RUNS = {"vllm_decode_full": 19.11, "sglang_decode": 473.8}
FORMS = (
    re.compile(r"execute_(?:\d+_)?context_(?P<p>\d+)\((?:sq)?(?P<pt>\d+)[^)]*\)_generation_"
               r"(?P<d>\d+)\((?:sq)?(?P<dt>\d+)"),
    re.compile(r"execute_new_(?P<p>\d+)_cached_(?P<d>\d+)"),
    re.compile(r"step\[(?:DECODE|TARGET_VERIFY) bs=(?P<d>\d+)"),
    re.compile(r"step\[EXTEND bs=(?P<p>\d+) toks=(?P<pt>\d+)"),
    re.compile(r"prefill\[bs=(?P<p>\d+) tok=(?P<pt>\d+)"),
    re.compile(r"(?:eager_)?decode\[bs=(?P<d>\d+)(?:/\d+)? tok=(?P<dt>\d+)"),
)
# Models that were run by hand, without an engine: no mark says so, but no backward pass is there.
BY_HAND = ("AMD-AGI+TraceLens/tests/traces/h100/*.json.gz",
           "AMD-AGI+TraceLens/tests/traces/mi300/[FQg]*.json.gz",
           "facebookresearch+HolisticTraceAnalysis/tests/data/mtia_inference_trace/*.json.gz")
TRAINING = re.compile(r"prof\.step|DataLoader|loader|per rank|larger batch|fused=True|training|"
                      r"optimizer|backward|gradient")


def read_events(path):
    opened = gzip.open if path.read_bytes()[:2] == b"\x1f\x8b" else open
    with opened(path, "rt") as file:
        trace = json.load(file)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def phase_of(groups):
    prompts, decodes = int(groups.get("p") or 0), int(groups.get("d") or 0)
    if prompts:
        return "mixed" if decodes else "prefill"
    return "speculative" if int(groups.get("dt") or 0) > decodes else "decode"


def iterations(events):
    """Phase and requests of the outermost annotations, by start."""
    found, until = [], float("-inf")
    marks = [event for event in events if event.get("cat") == "user_annotation"]
    for event in sorted(marks, key=lambda event: (event["ts"], -event["dur"])):
        match = next(filter(None, (form.match(event["name"]) for form in FORMS)), None)
        if match and event["ts"] + event["dur"] > until:
            groups = match.groupdict()
            found.append((phase_of(groups), int(groups.get("p") or 0) + int(groups.get("d") or 0)))
            until = event["ts"] + event["dur"]
    return found


def check_iterations(results, tscope, path):
    facts = tscope.report(path)["facts"]["inference"]
    found = iterations(read_events(path))
    label = program.short(path)
    if not found:
        results.check(f"{label} iterations", None, facts["iteration_count"])
        return
    results.check(f"{label} iterations", len(found), facts["iteration_count"])
    for phase in ("prefill", "decode", "mixed", "speculative"):
        requests = [count for kind, count in found if kind == phase]
        results.check(f"{label} {phase}", len(requests), facts[phase]["count"])
        if requests:
            results.near(f"{label} {phase} requests", sum(requests) / len(requests),
                         facts[phase]["requests"], 1e-9)


def check_capture(results, tscope, path):
    done = tscope.run("trace", "--format", "json", "--full", path)
    run = json.loads(done.stdout)["runs"][0]
    causes = [finding["cause"] for finding in run["findings"]]
    results.check(f"{program.short(path)} capture", ["capture_not_a_run"], causes)
    results.check(f"{program.short(path)} steps", 0, run["facts"]["steps"]["counted_count"])
    results.check(f"{program.short(path)} step time", None, run["facts"]["step_time"]["mean_ns"])


def check_run(results, tscope, name, time_ms):
    done = tscope.run("report", "--format", "json", "--full", INFERENCE / name)
    report = json.loads(done.stdout)["runs"][0]
    results.near(f"{name} ms a step", time_ms, report["facts"]["step_time"]["mean_ns"] / 1e6, 0.05)
    results.check(f"{name} steps", 1, report["facts"]["step_time"]["count"])
    # Kernels of graphs have no grid: figures of the rest would pass for those of all.
    for fact in ("small_grid_ns", "sm_efficiency_ratio", "occupancy_pct"):
        results.check(f"{name} {fact}", None, report["facts"]["kernels"][fact])


def check_advice(results, tscope, path):
    run = json.loads(tscope.run("trace", "--format", "json", path).stdout)["runs"][0]
    for finding in run["findings"]:
        said = TRAINING.search(finding["advice"])
        results.check(f"{program.short(path)} {finding['id']}: advice for training", None,
                      said and said[0])


def main():
    tscope = program.Program(sys.argv[1])
    program.need(INFERENCE)
    results = program.Results()
    for path in sorted(INFERENCE.rglob("*.json.gz")):
        check_iterations(results, tscope, path)
        if "capture_traces" in str(path):
            check_capture(results, tscope, path)
        check_advice(results, tscope, path)
    for path in sorted(path for pattern in BY_HAND for path in program.DATA.glob(pattern)):
        check_advice(results, tscope, path)
    for name, time_ms in RUNS.items():
        check_run(results, tscope, name, time_ms)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
