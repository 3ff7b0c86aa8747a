#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simple reader against the truth of generated snapshots.

usage: check_snapshot.py [COUNT [FIRST_SEED]]
"""
import pathlib
import random
import sys
import tempfile

import make_snapshot
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
    """What differs for one seed."""
    plan, max_entries, era, protocol, is_json = random_case(seed)
    run, truth = make_snapshot.simulate(plan, max_entries, era, is_json)
    path = pathlib.Path(folder) / ("s.json" if is_json else "s.pickle")
    data = snapshot_writers.Builder(run, era, max_entries).build()
    snapshot_writers.write(data, path, era == "cpp", protocol, is_json)
    return truth, list(compare(truth, snapshot.figures(snapshot.load(path))))


def main(arguments):
    count = int(arguments[0]) if arguments else 100
    first = int(arguments[1]) if len(arguments) > 1 else 1
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            _, found = check(seed, folder)
            for place, expected, actual in found[:5]:
                print(f"seed {seed}: {place}: the truth is {expected}, the reader says {actual}")
            bad += bool(found)
    print(f"{count - bad} snapshots agree, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
