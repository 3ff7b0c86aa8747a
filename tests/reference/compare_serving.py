#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `tscope trace` on random traces of inference engines (make_serving.py) and compares its
facts about iterations and phases with what is true: times to the ns. So are folders with the
captures of their graphs (serving_captures.py): which replay is which graph, and its FLOPs.

usage: compare_serving.py TSCOPE [ROUNDS [FIRST_SEED]]
"""
import json
import math
import re
import subprocess
import sys

import make_serving
import seeds
import serving_captures


TRAINING = re.compile(r"prof\.step|[Ll]oader|per rank|larger batch|fused=True|training|optimizer|"
                      r"backward|gradient")


def differences(truth, facts, name=""):
    for key, expected in truth.items():
        actual = facts.get(key)
        if isinstance(expected, dict):
            yield from differences(expected, actual, f"{name}{key}.")
        elif isinstance(expected, float) and isinstance(actual, (int, float)):
            if not math.isclose(expected, actual, rel_tol=1e-12, abs_tol=1e-12):
                yield f"{name}{key}: {actual}, in truth {expected}"
        elif expected != actual:
            yield f"{name}{key}: {actual}, in truth {expected}"


def check(program, seed, folder):
    text, truth = make_serving.random_trace(seed)
    path = folder / "trace.json"
    path.write_text(text)
    done = subprocess.run([program, "trace", "--format", "json", "--full", path], capture_output=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.decode()}"]
    run = json.loads(done.stdout)["runs"][0]
    return list(differences(truth, run["facts"]["inference"])) + [
        f"{finding['id']}: advice for training: {finding['advice']}" for finding in run["findings"]
        if TRAINING.search(finding["advice"])]


def check_joins(program, seed, folder):
    """The captures of a server's graphs beside its trace."""
    files, iterations, graphs, flops = serving_captures.random_run(seed)
    run = folder / f"run{seed}"
    for name, text in files.items():
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(text)
    done = subprocess.run([program, "report", "--format", "json", "--full", run],
                          capture_output=True, check=False, timeout=60)
    if done.returncode != 0:
        return [f"report: exit {done.returncode}: {done.stderr.decode()}"]
    facts = json.loads(done.stdout)["runs"][0]["facts"]
    found = list(differences(iterations, facts["inference"], "joined: "))
    if graphs["replay_count"]:
        found += differences(graphs, facts["graphs"], "graphs.")
        found += differences({"total": flops or None}, {"total": facts["flops"]["total"] or None},
                             "flops.")
    return found


def compare_phases(program, seed, folder):
    """Two servers: phases are compared with phases, sizes with sizes."""
    sizes = []
    for number, name in enumerate(("a.json", "b.json")):
        text, turns, _ = make_serving.random_turns(seed + number)
        (folder / name).write_text(text)
        sizes.append(make_serving.latencies_by_size(turns))
    done = subprocess.run([program, "diff", "--format", "json", "--full", folder / "a.json",
                           folder / "b.json"], capture_output=True, check=False, timeout=60)
    if done.returncode != 0:
        return [f"diff: exit {done.returncode}: {done.stderr.decode()}"]
    rows = json.loads(done.stdout)["runs"][0]["facts"]["phase_changes"]["list"]
    found = {(row["phase"], row["requests"]): ((row["a_count"], row["a_p50_ns"]),
                                               (row["b_count"], row["b_p50_ns"])) for row in rows}
    truth = {key: (sizes[0][key], sizes[1][key]) for key in sizes[0] if key in sizes[1]}
    return [f"diff: {key}: {found.get(key)}, in truth {truth.get(key)}"
            for key in {**found, **truth} if found.get(key) != truth.get(key)]


def compare(program, seed, folder):
    yield from check(program, seed, folder)
    yield from check_joins(program, seed, folder)
    if seed % 4 == 0:
        yield from compare_phases(program, seed, folder)


if __name__ == "__main__":
    sys.exit(seeds.main(compare, 200))
