#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tscope says of real traces beside what an expert says of them: the cause of the first finding,
and causes that no finding of medium or high severity may name. Prints a table of misses.

usage: check_verdicts.py TSCOPE [FILE_FRAGMENT...]
"""
import collections
import csv
import sys

import program

LEAST_FIRST_OF_CERTAIN, LEAST_FIRST_OF_ALL, LEAST_WITHOUT_FORBIDDEN = 0.95, 0.85, 0.98
QUIET = {"toy_trace", "well_utilised"}  # nothing above low
LABELS = "verdicts-dev.tsv"


def labels():
    with open(program.DATA / LABELS, encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t",
                              quoting=csv.QUOTE_NONE)
        yield from rows


def judge(findings, row):
    """What is wrong with the first finding, and the forbidden causes that are named."""
    expected = set(row["expect_first"].split("|"))
    forbidden = set(row["must_not"].split(",")) & {
        finding["cause"] for finding in findings if finding["severity"] != "low"}
    is_quiet = not findings or findings[0]["severity"] == "low"
    first = "" if is_quiet else findings[0]["cause"]
    if first in expected or (is_quiet and (expected & QUIET or (
            findings and findings[0]["cause"] in expected))):
        return "", forbidden
    return first or "nothing above low", forbidden



def main():
    tscope = program.Program(sys.argv[1])
    program.need(program.DATA / LABELS)
    results = program.Results()
    firsts = collections.defaultdict(list)
    without_forbidden = []
    for row in labels():
        if len(sys.argv) > 2 and not any(part in row["file"] for part in sys.argv[2:]):
            continue
        findings = tscope.report(program.DATA / row["file"])["findings"]
        miss, forbidden = judge(findings, row)
        firsts[row["confidence"]].append(not miss)
        without_forbidden.append(not forbidden)
        if miss or forbidden:
            print(f"{row['file']}\n    expected {row['expect_first']} ({row['confidence']})"
                  + (f"; forbidden: {', '.join(sorted(forbidden))}" if forbidden else ""))
            print(f"    expert: {row['top_cause_share_of_wall']}, {row['second_cause']}; {row['reason']}")
            for finding in findings[:4]:
                print(f"    {finding['severity']:4} {finding['cause']}: {finding['title']}")
    certain, everything = firsts["high"], [hit for hits in firsts.values() for hit in hits]
    for name, hits, least in (("first finding, certain rows", certain, LEAST_FIRST_OF_CERTAIN),
                              ("first finding, all rows", everything, LEAST_FIRST_OF_ALL),
                              ("no forbidden cause", without_forbidden, LEAST_WITHOUT_FORBIDDEN)):
        ratio = sum(hits) / len(hits) if hits else 1
        print(f"{name}: {sum(hits)} of {len(hits)}, {ratio:.1%}")
        results.check(f"{name}: at least {least:.0%}", True, ratio >= least)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
