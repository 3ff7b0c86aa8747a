#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Default reports of all test data and of all golden cases fit one screen and begin with the answer.

usage: check_screens.py TSCOPE TESTDATA
"""
import os
import pathlib
import re
import sys

import screen

PAIRS = [("run_before", "run_after"), ("run_after", "run_before"), ("run_healthy", "run_sick"),
         ("run_sick", "run_healthy"), ("run_before", "run_sick"), ("run_healthy", "run_healthy"),
         ("run_mixed", "run_rerun"), ("two_steps.json", "flops.json"), ("era_a.json", "era_d.json"),
         ("leak_a.pickle", "leak_b.pickle"), ("memory_timeline.json.gz", "memory_timeline.raw.json.gz"),
         ("ranks_slow_host", "ranks_slow_loader"), ("serving_eager.json", "serving_prefill.json"),
         ("run_before", "run_after", "run_sick"), ("run_memory", "run_sick")]


# Golden cases that ask for more than a screen, or for less.
OTHER = re.compile(r"--(full|show|format|verbose|all|help|version|quiet|color|steps-of|flamegraph)|COLUMNS|\||;|&|-v\b")
DEFAULT = re.compile(r"^tscope (trace|report|memory|diff|hang) .*\n?$")


def goldens(folder):
    """(name, text) of cases with one default report."""
    for script in sorted(folder.glob("*.sh")):
        golden = script.with_suffix(".stdout.exact")
        text = script.read_text()
        if DEFAULT.match(text) and not OTHER.search(text) and golden.exists() and \
                golden.read_text().count("  more: --full") == 1:
            yield script.stem, golden.read_text()


def main():
    program, testdata = sys.argv[1:]
    screens = screen.Screens(os.path.abspath(program))
    folder = pathlib.Path(testdata)
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".py", ".tsv", ".md"):
            screens.check(path.name, path)
    for names in PAIRS:
        screens.check_command("diff " + " ".join(names), "diff", *(folder / name for name in names))
    for name, text in goldens(pathlib.Path(__file__).parent):
        screens.check_golden(name, text)
    return screens.exit_status()


if __name__ == "__main__":
    sys.exit(main())
