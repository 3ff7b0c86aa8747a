#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `tscope report` with formulas.py on random run directories: facts to a part in 10^6 (or
one nanosecond, one byte), lists exactly, and which of pytscope's rules fire, how severely.

usage: compare_runs.py TSCOPE [ROUNDS [FIRST_SEED]]
"""
import json
import math
import subprocess
import sys

import formulas
import random_runs
import seeds

TOLERANCE = 1e-6
REFERENCE_RULES = {
    "TIMING.DATALOADER_BOUND", "TIMING.BACKWARD_HEAVY", "TIMING.OPTIMIZER_HEAVY", "TIMING.JITTER",
    "MEMORY.FRAGMENTATION", "MEMORY.GROWTH", "CONVERGENCE.DIVERGED", "CONVERGENCE.NO_PROGRESS",
    "CROSS.CORRELATED_INSTABILITY",
    "EFFICIENCY.LOW_MFU", "EFFICIENCY.RECOVERABLE"}

# What a finding must win of the step to be of a severity, weighed by how certain it is.
LEAST_SHARES = (("high", 0.20), ("med", 0.05))
CERTAINTY = {"low": 0.4, "med": 0.7, "high": 1.0}


def fact(document, analyzer, name):
    value = document["facts"].get(analyzer, {})
    for part in name.split("."):
        value = (value or {}).get(part)
    return value


def close(actual, expected, unit):
    if expected is None or actual is None:
        return expected is None and actual is None
    if isinstance(expected, str) or isinstance(actual, (str, list)):
        return actual == expected
    allowed = 1.0 if unit in ("ns", "bytes") else 1e-9
    return math.isfinite(actual) and abs(actual - expected) <= max(
        allowed, TOLERANCE * max(abs(actual), abs(expected)))


def unit_of(name):
    return "ns" if name.endswith("_ns") else "bytes" if name.endswith("_bytes") else ""


def compare_values(document, analyzer, expected):
    """Yields (name, actual, expected) of what differs."""
    for name, value in expected.items():
        actual = fact(document, analyzer, name)
        if not close(actual, value, unit_of(name)):
            yield f"{analyzer}.{name}", actual, value


def compare_efficiency(document, expected):
    if not expected:
        return
    yield from compare_values(document, "efficiency",
                              {k: v for k, v in expected.items() if k != "lines"})
    lines = {row["line"]: row["ns"] for row in document["facts"]["efficiency"]["lines"]}
    for name, value in expected["lines"]:
        if not close(lines.get(name), value, "ns"):
            yield f"efficiency.lines {name}", lines.get(name), value


def compare_distributed(document, expected):
    actual = document["facts"].get("distributed", {})
    if not expected:
        if actual.get("n_steps"):
            yield "distributed.n_steps", actual["n_steps"], None
        return
    plain = {k: v for k, v in expected.items() if k not in ("ranks", "straggler")}
    yield from compare_values(document, "distributed", plain)
    straggler = (actual["straggler"] or {}).get("rank")
    if straggler != expected["straggler"]:
        yield "distributed.straggler", straggler, expected["straggler"]
    rows = {row["rank"]: row for row in actual["ranks"]}
    if sorted(rows) != [row["rank"] for row in expected["ranks"]]:
        yield "distributed.ranks", sorted(rows), [row["rank"] for row in expected["ranks"]]
        return
    for row in expected["ranks"]:
        for name, value in row.items():
            if not close(rows[row["rank"]][name], value, unit_of(name)):
                yield f"distributed.ranks[{row['rank']}].{name}", rows[row["rank"]][name], value


def limited(severity, finding, step_ns):
    """A severity of the reference, no graver than what the finding wins back."""
    if finding["gain_ns"] is None or not step_ns:
        return severity
    weight = finding["gain_ns"] / round(step_ns) * CERTAINTY[finding["confidence"]]
    most = next((name for name, share in LEAST_SHARES if weight >= share), "low")
    return min(severity, most, key=("low", "med", "high").index)


def compare_rules(document, expected):
    """A rule may be told by another one's finding; then only that it fired is known."""
    step_ns = fact(document, "step_time", "mean_ns")
    findings = {finding["id"]: finding for finding in document["findings"]}
    told = {rule: finding["severity"] for rule, finding in findings.items()}
    expected = {rule: limited(severity, findings[rule], step_ns) if rule in findings else severity
                for rule, severity in expected.items()}
    fired = set(told).union(*(finding["also"] for finding in document["findings"]))
    for rule in sorted(REFERENCE_RULES):
        if (rule in fired) != (rule in expected):
            yield rule, rule in fired, expected.get(rule)
        elif rule in told and rule in expected and told[rule] != expected[rule]:
            yield f"{rule} severity", told[rule], expected[rule]


def differences(document, ranks, flops, peak):
    lowest = ranks[min(ranks)]
    steps = formulas.slowest(ranks) if len(ranks) > 1 else lowest
    facts = {"step_time": formulas.step_time(steps), "memory": formulas.memory(lowest),
             "convergence": formulas.convergence(lowest),
             "efficiency": formulas.efficiency(lowest, flops, peak),
             "correlation": formulas.correlation(lowest)}
    spread = formulas.distributed(ranks)
    for analyzer in ("step_time", "memory", "convergence"):
        yield from compare_values(document, analyzer, facts[analyzer])
    yield from compare_efficiency(document, facts["efficiency"])
    yield from compare_distributed(document, spread)
    groups = [(g["first_step"], g["last_step"])
              for g in document["facts"].get("correlation", {}).get("groups", [])]
    if groups != facts["correlation"]:
        yield "correlation.groups", groups, facts["correlation"]
    yield from compare_rules(document, formulas.rules(facts, spread, bool(flops and peak)))


def check(program, seed, folder):
    warmup = (0, 0, 0, 2)[seed % 4]
    ranks, flops, peak = random_runs.write_run(folder, seed)
    done = subprocess.run([program, "report", "--format", "json", "--full", "--warmup", str(warmup), folder],
                          check=False, capture_output=True)
    if done.returncode != 0:
        yield f"exit {done.returncode}: {done.stderr.decode()}"
        return
    ranks = {rank: records[warmup:] for rank, records in ranks.items()}
    for name, actual, expected in differences(json.loads(done.stdout)["runs"][0], ranks, flops, peak):
        yield f"{name}: tscope says {actual}, the formula {expected}"


if __name__ == "__main__":
    sys.exit(seeds.main(check, 300))
