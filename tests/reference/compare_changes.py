#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `tscope diff` on pairs of runs that differ in one thing (make_changes.py) and compares what it
says with the truth: is the step called changed, by how much, and what explains it. What sums to
what is compared in integers. Of the text it counts how often the first line is the largest change
that was made, how much of all changes the lines hold that are shown, and how many lines are called
significant that do not change.

usage: compare_changes.py TSCOPE [COUNT [FIRST_SEED]]    COUNT pairs of each kind
"""
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import make_changes
import seeds

# Of the pairs with a change, of the changes of lines, of the lines that did not change.
LEAST_FIRST, LEAST_COVERED, MOST_FALSE = 0.98, 0.80, 0.01
# Lines that change by less did not (a ns in one step of a few); those within a tenth of the largest
# are as large.
STILL_NS, AS_LARGE = 500, 0.9
LINE_NAMES = {
    "compute": "compute", "exposed communication": "exposed_comm", "exposed copies": "exposed_copy",
    "waiting for data": "data_stall", "waiting for the device": "sync_stall",
    "launch stalls": "launch_stall", "gaps between kernels": "device_gap",
    "unattributed": "unattributed"}
# "           +1.501 ms  launch stalls (likely): …"
SHOWN_LINE = re.compile(r"^ {11}[+-]\S+ \S+ +(" + "|".join(LINE_NAMES) + r")(?: \((?:likely|cannot tell)\))?(?::|$)",
                        re.MULTILINE)

# A change is found as large as it was made up to the noise of two means of 14 steps.
MOST_NOISE = 0.015


def tscope(program, *arguments):
    done = subprocess.run([program, *arguments], check=False, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {done.returncode}: "
                           f"{done.stderr.decode()}")
    return done.stdout


def facts_of(program, a, b):
    return json.loads(tscope(program, "diff", a, b, "--format", "json", "--full"))["runs"][0]["facts"]


def check_sums(facts):
    """What the explanation is made of sums to what it is of."""
    explanation = facts["explanation"]
    lines, parts = explanation["lines"], explanation["parts"]
    for key in ("a_ns", "b_ns", "change_ns"):
        total = sum(line[key] for line in lines)
        if total != explanation[key]:
            yield f"lines sum to {key} {total}, not {explanation[key]}"
        for line in lines:
            total = sum(part[key] for part in parts if part["line"] == line["line"])
            if total != line[key]:
                yield f"parts of {line['line']} sum to {key} {total}, not {line[key]}"
    for rows in (lines, parts):
        sizes = [abs(row["change_ns"]) for row in rows]
        if sizes != sorted(sizes, reverse=True):
            yield "not the largest change first"
        if any(row["change_ns"] != row["b_ns"] - row["a_ns"] for row in rows):
            yield "a change is not the difference"


def check_means(facts, truth):
    explanation, step = facts["explanation"], facts["step_change"]
    for key in ("a_ns", "b_ns", "change_ns"):
        if step[key] != truth[key]:
            yield f"step_change.{key} {step[key]}, not {truth[key]}"
    if explanation["source"] != "budget":
        yield f"source {explanation['source']}"
    ranks = [explanation.get(key) or 0 for key in ("a_rank", "b_rank")]
    for side, key in enumerate(("a_ns", "b_ns")):
        expected = truth["rank_ns"][ranks[side]][side]
        if explanation[key] != expected:
            yield f"explanation.{key} of rank {ranks[side]} {explanation[key]}, not {expected}"
    if len(truth["rank_ns"]) > 1:
        rest = truth["change_ns"] - explanation["change_ns"]
        if explanation["rest_ns"] != rest:
            yield f"rest_ns {explanation['rest_ns']}, not {rest}"


def check_no_change(facts):
    if facts["step_change"]["verdict"] != "no_change":
        yield f"the step is called {facts['step_change']['verdict']}"
    for name in ("new", "gone", "replaced", "slower", "faster", "more_calls", "fewer_calls"):
        if facts["kernel_changes"][f"{name}_count"]:
            yield f"{facts['kernel_changes'][name + '_count']} kernels are called {name}"
    for line in facts["explanation"]["lines"]:
        if line["verdict"] == "changed":
            yield f"line {line['line']} is called changed"


def check_part(facts, truth):
    """The part that changed most is what was changed."""
    part = facts["explanation"]["parts"][0]
    names = [sorted((part[key] or part["part"]).split(" + ")) for key in ("a_part", "part")]
    if part["line"] != truth["line"]:
        yield f"first part {part['part']} is of {part['line']}, not {truth['line']}"
    if truth["parts"] and names != [sorted(side) for side in truth["parts"]]:
        yield f"first part {names}, not {truth['parts']}"
    expected = {"kernel_slower": ("kernel", {"slower"}), "kernel_split": ("kernel", {"replaced"}),
                "comm_exposed": ("collective", {"less_hidden"}),
                "loader_stall": ("loader", {"slower"}), "rank_slow": ("kernel", {"slower"}),
                "ragged_last": ("kernel", {"slower"}), "cold_first": ("kernel", {"slower"}),
                "host_python": ("operator", {"slower"}),
                "vendor": ("kernel", {"slower", "replaced"})}
    kind, changes = expected[truth["change"]]
    if part["kind"] != kind or part["change"] not in changes:
        yield f"first part is {part['kind']}, {part['change']}"


def check_change(facts, truth):
    step, explanation = facts["step_change"], facts["explanation"]
    most = MOST_NOISE * truth["a_ns"]
    if truth["noisy"]:
        if step["verdict"] != "no_change":
            yield f"the step is called {step['verdict']}"
    elif step["verdict"] != "changed":
        yield f"the step is called {step['verdict']}"
    elif abs(step["shift_ns"] - truth["injected_ns"]) > most:
        yield f"shift {step['shift_ns']}, injected {truth['injected_ns']}"
    line = explanation["lines"][0]
    if truth["noisy"]:
        line = next(row for row in explanation["lines"] if row["line"] == truth["line"])
    if (line["line"], line["verdict"]) != (truth["line"], "changed"):
        yield f"first line {line['line']} ({line['verdict']}), not {truth['line']}"
    if truth["change"] == "opposite":
        return
    if abs(line["change_ns"] - truth["injected_ns"]) > most:
        yield f"first line changes by {line['change_ns']}, injected {truth['injected_ns']}"
    if not truth["noisy"]:
        yield from check_part(facts, truth)
    if len(truth["rank_ns"]) < 2:
        return
    if explanation["is_one_rank"] != (truth["rank"] is not None):
        yield f"is_one_rank {explanation['is_one_rank']}"
    if truth["rank"] is not None and explanation["b_rank"] != truth["rank"]:
        yield f"rank {explanation['b_rank']}, not {truth['rank']}"


# ---- what the text shows -------------------------------------------------------------------


class Shown:
    """Counts over all pairs."""

    def __init__(self):
        self.pairs = self.first = self.still = self.false = 0
        self.all_ns = self.covered_ns = 0
        self.calm = {}

    def calm_changes(self, program, change, rank_count):
        """Line → change of a pair without noise."""
        key = change, rank_count
        if key not in self.calm:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                make_changes.write_pair(folder, change, 0, rank_count, 6, 0)
                lines = facts_of(program, folder / "a", folder / "b")["explanation"]["lines"]
            self.calm[key] = {line["line"]: line["change_ns"] for line in lines}
        return self.calm[key]

    def add(self, program, folder, truth, facts):
        calm = self.calm_changes(program, truth["change"], len(truth["rank_ns"]))
        for line in facts["explanation"]["lines"]:
            if abs(calm.get(line["line"], 0)) < STILL_NS:
                self.still += 1
                self.false += line["verdict"] == "changed"
        if truth["change"] == "none":
            return
        text = tscope(program, "diff", folder / "a", folder / "b").decode()
        shown = [LINE_NAMES[words] for words in SHOWN_LINE.findall(text)]
        largest = max(map(abs, calm.values()))
        self.pairs += 1
        self.first += bool(shown) and abs(calm.get(shown[0], 0)) >= AS_LARGE * largest
        for line in facts["explanation"]["lines"]:
            size = abs(line["change_ns"])
            # What only noise changes is nothing to be shown.
            if abs(calm.get(line["line"], 0)) < STILL_NS:
                continue
            self.all_ns += size
            self.covered_ns += size * (line["line"] in shown)

    def check(self):
        """Prints the figures; are they good enough?"""
        first, covered = self.first / self.pairs, self.covered_ns / self.all_ns
        false = self.false / self.still
        print(f"{self.pairs} changed pairs: the largest change is the first line in "
              f"{100 * first:.1f} %, lines shown hold {100 * covered:.1f} % of the changes; of "
              f"{self.still} lines without a change {100 * false:.2f} % are called changed")
        return first >= LEAST_FIRST and covered >= LEAST_COVERED and false <= MOST_FALSE


def check_itself(program, path):
    facts = facts_of(program, path, path)
    yield from check_sums(facts)
    if facts["step_change"]["verdict"] != "same":
        yield f"against itself the step is {facts['step_change']['verdict']}"
    for row in facts["explanation"]["lines"]:
        if row["change_ns"] or row["verdict"] != "same":
            yield f"against itself line {row['line']} is {row['verdict']}"
    for row in facts["explanation"]["parts"]:
        if row["change_ns"] or row["change"] != "same":
            yield f"against itself {row['part']} is {row['change']}"


def check_saved(program, folder, facts):
    """A report or baseline of A that was saved says what A says."""
    for form in ("json", "baseline"):
        saved = folder / f"a.{form}"
        saved.write_bytes(tscope(program, "report", folder / "a", "--format", form, "--full"))
        again = facts_of(program, saved, folder / "b")
        for analyzer in facts if form == "baseline" else ("step_change", "explanation"):
            if again[analyzer] != facts[analyzer]:
                yield f"{analyzer} differs with A saved as {form}"


def check_pair(program, folder, change, seed, shown):
    rank_count = (2, 4)[seed % 2] if change in ("comm_exposed", "rank_slow") else (1, 2, 4)[seed % 3]
    if change == "hidden_line":
        rank_count = 1 # of several the one that is explained is picked by the noise
    truth = make_changes.write_pair(folder, change, seed, rank_count)
    facts = facts_of(program, folder / "a", folder / "b")
    shown.add(program, folder, truth, facts)
    yield from check_sums(facts)
    yield from check_means(facts, truth)
    yield from check_no_change(facts) if change == "none" else check_change(facts, truth)
    yield from check_itself(program, folder / "b")
    yield from check_saved(program, folder, facts)


def check(program, shown, seed, folder):
    for change in make_changes.CHANGES:
        for difference in check_pair(program, folder / change, change, seed, shown):
            yield f"{change}: {difference}"


def main():
    program, *numbers = sys.argv[1:]
    shown = Shown()
    status = seeds.run(functools.partial(check, program, shown), numbers, 10)
    return status or not shown.check()


if __name__ == "__main__":
    sys.exit(main())
