#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what `tscope report` says of metrics, and of the loss among them, with what was logged:
on random directories of TensorBoard event files, tables, MLflow file stores and step records.

usage: compare_metrics.py TSCOPE [ROUNDS [FIRST_SEED]]
"""
import json
import math
import re
import subprocess
import sys

import formulas
import make_metrics
import seeds

TOLERANCE = 1e-12
CHECKSUM_TEST = (b"123456789", 0xe3069283)  # the value that everybody publishes for CRC-32C


def close(expected, found):
    if isinstance(expected, float) and isinstance(found, (int, float)):
        if not math.isfinite(expected):
            return False  # JSON has no such numbers
        return abs(expected - found) <= TOLERANCE * max(abs(expected), abs(found))
    return expected == found


def by_step(parts):
    """name → {step: value}: of equal steps of a source the last counts, of sources the first."""
    series = {}
    for _, points in reversed(parts):
        for name, step, value in points:
            series.setdefault(name, {})[step] = value
    return {name: dict(sorted(values.items())) for name, values in series.items()}


def source_of(parts, name):
    return next(source for source, points in parts if any(one[0] == name for one in points))


def written(value):
    """As JSON has it: null where it is not finite."""
    return value if math.isfinite(value) else None


def row_of(series):
    values = list(series.values())
    finite = [value for value in values if math.isfinite(value)]
    return {"count": len(values), "first_step": min(series), "last_step": max(series),
            "first": written(values[0]), "last": written(values[-1]),
            "min": min(finite, default=None), "max": max(finite, default=None),
            "mean": math.fsum(finite) / len(finite) if finite else None,
            "nonfinite_count": len(values) - len(finite)}


def expected_rows(made):
    role_of = {name: role for role, name in made.roles.items()}
    return {name: {"role": role_of.get(name, ""), "source": source_of(made.parts, name),
                   **row_of(series)} for name, series in by_step(made.parts).items()}


def expected_facts(rows):
    facts = {"name_count": len(rows), "value_count": sum(row["count"] for row in rows.values()),
             "nonfinite_count": sum(row["nonfinite_count"] for row in rows.values())}
    for name, row in rows.items():
        if row["role"]:
            facts[row["role"] + "_name"] = name
    return facts


def expected_convergence(made):
    records, series = {}, by_step(made.parts)
    for role in ("loss", "grad_norm"):
        for step, value in series.get(made.roles.get(role), {}).items():
            records.setdefault(step, {"step": step, "scalars": {}})["scalars"][role] = value
    return formulas.convergence([records[step] for step in sorted(records)])


def note_differences(document, made):
    """What the note of the event file says of records that are in no figure."""
    notes = [row["note"] or "" for row in document["inputs"] if row["format"] == "tensorboard"]
    for words, count in made.said.items():
        part = next((part for part in "".join(notes).split("; ") if words in part), "")
        numbers = re.findall(r"\d+", part)
        found = int(numbers[0]) if numbers else int(bool(part))
        if found != count:
            yield f"note of {words}", count, notes


def differences(document, made):
    yield from note_differences(document, made)
    scalars = document["facts"].get("scalars", {})
    rows = expected_rows(made)
    for name, value in expected_facts(rows).items():
        if not close(value, scalars.get(name)):
            yield f"scalars.{name}", value, scalars.get(name)
    found = {row["name"]: row for row in scalars.get("by_name", [])}
    for name in sorted(set(rows) | set(found)):
        if name not in rows or name not in found:
            yield f"scalars.by_name {name}", name in rows, name in found
            continue
        for column, value in rows[name].items():
            if not close(value, found[name][column]):
                yield f"scalars.by_name {name} {column}", value, found[name][column]
    convergence = document["facts"].get("convergence", {})
    for name, value in expected_convergence(made).items():
        if not close(value, convergence.get(name, [] if name.endswith("spikes") else None)):
            yield f"convergence.{name}", value, convergence.get(name)


def check(program, seed, folder):
    made = make_metrics.make(seed, folder)
    done = subprocess.run([program, "report", "--format", "json", "--full", *made.options, folder],
                          check=False, capture_output=True)
    sources = " and ".join(source for source, _ in made.parts)
    known = by_step(made.parts)
    if done.returncode != (0 if known else 3):
        yield f"{sources}: exit {done.returncode}: {done.stderr.decode().strip()}"
        return
    if not known:
        return
    made.roles = {role: name for role, name in made.roles.items() if name in known}
    for name, expected, found in differences(json.loads(done.stdout)["runs"][0], made):
        yield f"{sources}: {name}: expected {expected}, tscope says {found}"


def main():
    data, crc = CHECKSUM_TEST
    assert make_metrics.crc32c(data) == crc
    return seeds.main(check, 100)


if __name__ == "__main__":
    sys.exit(main())
