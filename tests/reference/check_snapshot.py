#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simple reader against the truth of generated snapshots.

usage: check_snapshot.py [ROUNDS [FIRST_SEED]]
"""
import random
import sys

import make_snapshot
import seeds
import snapshot
import snapshot_writers
import training_program

# What a block may be larger than what it was asked for: a rest that was not worth splitting off.
SLACK_BYTES, SLACK_WITH_LIMIT_BYTES = 1 << 20, 20 << 20
ESTIMATES = ("largest_free_bytes", "free_bytes", "unfragmented_free_bytes",
             "would_fit_unfragmented", "pages_low_bytes", "pages_high_bytes")


def differences(expected, found, where=""):
    """Yields (place, expected, found)."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            if key not in expected or key not in found:
                yield f"{where}.{key}", expected.get(key, "absent"), found.get(key, "absent")
            else:
                yield from differences(expected[key], found[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (one, other) in enumerate(zip(expected, found)):
            yield from differences(one, other, f"{where}[{index}]")
    elif expected != found:
        yield where, expected, found


def oom_differences(truth, expected, found):
    """Exact where the reader says so; else the free memory is over-estimated by little."""
    slack = SLACK_WITH_LIMIT_BYTES if truth["plan"]["max_split_mb"] else SLACK_BYTES
    for one, other in zip(expected, found):
        is_exact = other.pop("is_exact")
        for name in ESTIMATES if not is_exact else ():
            low, high = one.pop(name), other.pop(name)
            if name == "largest_free_bytes" and not low <= high <= low + slack:
                yield name, low, high
    yield from differences(expected, found, "ooms")


def compare(truth, found):
    expected = truth["figures"]
    for number, device in expected["devices"].items():
        if number in found["devices"]:
            for table in ("by_role", "oom_by_role"):  # the truth knows uses, not stacks
                found["devices"][number].pop(table)
            yield from oom_differences(truth, device.pop("ooms"),
                                       found["devices"][number].pop("ooms"))
    yield from differences(expected, found)


def random_case(seed):
    """(plan, ring buffer, era, protocol, is JSON)."""
    rng = random.Random(seed + 10**6)
    plan = training_program.make_plan(seed)
    if rng.random() < 0.08:
        plan["record_at"] = "never"
    return (plan, rng.choice((0, 0, 1, 10, 100, 400)), rng.choice(sorted(snapshot_writers.ERAS)),
            rng.choice((4, 4, 0, 1, 2, 3, 5)), rng.random() < 0.1)


def check(seed, folder):
    plan, max_entries, era, protocol, is_json = random_case(seed)
    run, truth = make_snapshot.simulate(plan, max_entries, era, is_json)
    path = folder / ("s.json" if is_json else "s.pickle")
    data = snapshot_writers.Builder(run, era, max_entries).build()
    snapshot_writers.write(data, path, era == "cpp", protocol, is_json)
    for place, expected, actual in compare(truth, snapshot.figures(snapshot.load(path))):
        yield f"{place}: the truth is {expected}, the reader says {actual}"


def main(numbers):
    return seeds.run(check, numbers, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
