#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tscope hang against simulated jobs: culprit, call, kind and group; clean jobs have no culprit.

usage: check_hang.py TSCOPE [HANGS [CLEAN [SEED]]]
"""
import collections
import json
import random
import subprocess
import sys
import tempfile

import hang_jobs

LEAST_RIGHT = 0.995


def ask(tscope, folder):
    done = subprocess.run([tscope, "hang", "--format", "json", "--full", folder], capture_output=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"exit code {done.returncode}: {done.stderr.decode()}")
    report = json.loads(done.stdout)["runs"][0]
    return done.returncode, report["facts"]["hang"], report["findings"]


def ranks_of(text):
    ranks = set()
    for part in (text or "").split(", "):
        if part:
            first, _, last = part.partition("-")
            ranks |= set(range(int(first), int(last or first) + 1))
    return ranks


def complaint(truth, facts):
    named = ranks_of(facts["culprit_ranks"])
    if facts["kind"] not in truth.kinds:
        return f"kind {facts['kind']}, not {truth.kind}"
    if named != truth.culprits and not (truth.may_tie and facts["is_tie"] and
                                        truth.culprits <= named):
        return f"culprits {sorted(named)}, not {sorted(truth.culprits)}"
    call = truth.call
    if truth.is_any_call:
        return None
    if facts["kind"] == "order":
        return None  # either call of the circle may stand for it
    if facts["kind"] == "no_dump":  # no one knows what it would have called first
        return None if truth.culprits <= ranks_of(facts["group_ranks"]) else "group"
    if call.messages is not None:
        return None if facts["group"] == call.group.name else f"group {facts['group']}"
    if (facts["group"], facts["sequence"]) != (call.group.name, call.seq):
        return f"call {facts['call']}, not #{call.seq} of {call.group.name}"
    return None


def world_of(i):
    return {7: 128, 507: 256, 1007: 512, 1507: 1024}.get(i)


def check_hangs(tscope, count, seed):
    wrong, kinds = [], collections.Counter()
    for i in range(count):
        rng = random.Random(f"{seed} {i}")
        with tempfile.TemporaryDirectory() as folder:
            truth, job, writer = hang_jobs.make_case(rng, folder, world_of(i))
            code, facts, findings = ask(tscope, folder)
        kinds[truth.kind] += 1
        what = complaint(truth, facts) or (code != 1 and f"exit code {code}")
        if not what and not findings[0]["id"].startswith("HANG."):
            what = "no finding"
        if what:
            wrong.append(f"case {i}: {truth.kind} of {job.world} ranks, {writer.version}"
                         f"{', ring' if writer.capacity else ''}: {what}; {facts['call']}")
    print(f"{count - len(wrong)} of {count} hangs right:", dict(sorted(kinds.items())))
    return wrong


def check_clean(tscope, count, seed):
    wrong = []
    for i in range(count):
        rng = random.Random(f"clean {seed} {i}")
        with tempfile.TemporaryDirectory() as folder:
            job, _ = hang_jobs.make_clean(rng, folder)
            code, facts, findings = ask(tscope, folder)
        if code != 0 or facts["culprit_count"] or findings:
            wrong.append(f"clean {i}: {job.world} ranks: {facts['kind']} {facts['call']}")
    print(f"{count - len(wrong)} of {count} clean jobs without a culprit")
    return wrong


def main():
    tscope = sys.argv[1]
    hangs, clean, seed = (int(a) for a in (sys.argv[2:] + ["200", "50", "1"][len(sys.argv) - 2:]))
    wrong = check_hangs(tscope, hangs, seed)
    false = check_clean(tscope, clean, seed)
    for line in (wrong + false)[:40]:
        print(line)
    return 1 if false or len(wrong) > hangs * (1 - LEAST_RIGHT) else 0


if __name__ == "__main__":
    sys.exit(main())
