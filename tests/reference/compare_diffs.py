#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares `tscope diff` with formulas_diff.py on random pairs of run directories, and on those of
the test data with each other: what it says of reproducibility, and pytscope's metrics of both sides.

usage: compare_diffs.py TSCOPE TESTDATA [ROUNDS [FIRST_SEED]]
"""
import functools
import json
import pathlib
import subprocess
import sys

import compare_runs
import formulas_diff
import random_pairs
import seeds

# What a note begins with, and what stands behind that it names.
NOTE_BEGINNINGS = (
    ("reproducible", "Reproducible", None),
    ("one_knows", "Only ", " says its environment"),
    ("one_side", "Only ", " recorded losses"),
    ("ranks", "The number of ranks differs", None),
    ("config", "The configuration differs (", ")"),
    ("environment", "The environment differs in what can change numerics (", ")"),
    ("nondeterminism", "NONDETERMINISM", None),
    ("cudnn_benchmark", "cudnn.benchmark is on in ", ":"),
    ("hash_seed", "PYTHONHASHSEED is not set in ", ":"),
    ("differ", "The losses", " first differ at "),
    ("prefix", "The losses", " are equal"),
    ("no_losses", "Neither side recorded a loss", None),
)


def kind_of_note(text):
    """A note as formulas_diff.notes() has it."""
    for kind, beginning, end in NOTE_BEGINNINGS:
        if not text.startswith(beginning) or (end and end not in text):
            continue
        named = text[len(beginning):].split(end)[0] if end else None
        if kind in ("differ", "prefix"):
            named = int(named[len(" of rank "):]) if named else None
        return kind, named.split(", ") if kind in ("config", "environment") else named
    return "unknown", text


def value_of(text):
    """A setting's value as tscope shows it: a text, or JSON of anything else."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def same_setting(shown, has_value, value):
    if not has_value or shown is None:
        return shown is None and not has_value
    return shown == value if isinstance(value, str) else formulas_diff.same(value_of(shown), value)


def compare_settings(table, actual, expected):
    names = [row["name"] for row in actual]
    if names != [row[0] for row in expected]:
        yield f"{table} names", names, [row[0] for row in expected]
        return
    for row, (name, has_a, a, has_b, b) in zip(actual, expected):
        if not same_setting(row["a"], has_a, a) or not same_setting(row["b"], has_b, b):
            yield f"{table} {name}", (row["a"], row["b"]), (a, b)
        if row.get("is_relevant", False) != (table == "environment" and
                                             name in formulas_diff.RELEVANT):
            yield f"{table} {name} is_relevant", row["is_relevant"], name


def compare_facts(where, actual, expected):
    for name, value in expected.items():
        if name != "differs" and not compare_runs.close(actual[name], value, ""):
            yield f"{where}{name}", actual[name], value


def compare_reproducibility(actual, expected):
    if expected["facts"] is None:
        if actual.get("a_loss_count") is not None or actual.get("notes"):
            yield "reproducibility", actual, None
        return
    yield from compare_facts("", actual, expected["facts"])
    for table in ("environment", "config"):
        yield from compare_settings(table, actual[table], expected[table])
    told = [kind_of_note(text) for text in actual["notes"]]
    if told != expected["notes"]:
        yield "notes", actual["notes"], expected["notes"]
    if [row["rank"] for row in actual["ranks"]] != [row["rank"] for row in expected["ranks"]]:
        yield "ranks", actual["ranks"], expected["ranks"]
        return
    for row, wanted in zip(actual["ranks"], expected["ranks"]):
        yield from compare_facts(f"ranks[{wanted['rank']}].", row, wanted)


def compare_metrics(document, expected):
    rows = {row["fact"]: row for row in document["facts"]["fact_changes"]["list"]}
    for side, values in zip("ab", expected):
        for name, value in values.items():
            actual = rows[name][side] if name in rows else None
            if not compare_runs.close(actual, value, compare_runs.unit_of(name)):
                yield f"{side} {name}", actual, value


def run_diff(program, a, b, tolerance):
    done = subprocess.run(
        [program, "diff", "--format", "json", "--full", "--tolerance", repr(tolerance), a, b],
        check=False, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)["runs"][0]


def differences(document, expected):
    for name, actual, wanted in (
            *compare_reproducibility(document["facts"]["reproducibility"], expected),
            *compare_metrics(document, expected["metrics"])):
        yield f"{name}: tscope says {actual}, the formula {wanted}"


def check(program, seed, folder):
    tolerance = (0.0, 0.0, 1e-3)[seed % 3]
    a, b = random_pairs.write_pair(folder, seed)
    document = run_diff(program, folder / "a", folder / "b", tolerance)
    return differences(document, formulas_diff.diff(a, b, tolerance))


def read_records(path):
    """The last of the runs in a file: a step number that does not grow begins another."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
            number = record["step"]
        except (ValueError, TypeError, KeyError):
            continue
        if records and number <= records[-1]["step"]:
            records = []
        records.append(record)
    return records


def read_meta(path):
    """run.json, or None where a killed run left it cut."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None


def read_run(folder):
    run = {"ranks": {}, "metas": {}}
    for path in sorted(folder.rglob("steps.jsonl")):
        meta = read_meta(path.parent / "run.json")
        rank = (meta or {}).get("rank", -1)  # not said
        run["ranks"][rank], run["metas"][rank] = read_records(path), meta
    return run


def check_folders(program, testdata):
    """Whether the pairs of the test data agree."""
    folders = [testdata / name for name in ("run_healthy", "run_rerun", "run_sick")]
    return not sum(
        seeds.show(f"{a.name} {b.name}", differences(
            run_diff(program, a, b, 0.0), formulas_diff.diff(read_run(a), read_run(b))))
        for a in folders for b in folders)


def main():
    program, testdata, *numbers = sys.argv[1:]
    agree = check_folders(program, pathlib.Path(testdata))
    return seeds.run(functools.partial(check, program), numbers, 200) or not agree


if __name__ == "__main__":
    sys.exit(main())
