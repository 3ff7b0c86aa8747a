#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Default reports of all test data fit one screen and begin with the answer.

usage: check_screens.py TSCOPE TESTDATA
"""
import os
import pathlib
import sys

import screen

PAIRS = [("run_before", "run_after"), ("run_after", "run_before"), ("run_healthy", "run_sick"),
         ("run_sick", "run_healthy"), ("run_before", "run_sick"), ("run_healthy", "run_healthy"),
         ("run_mixed", "run_rerun"), ("two_steps.json", "flops.json"), ("era_a.json", "era_d.json"),
         ("leak_a.pickle", "leak_b.pickle"), ("memory_timeline.json.gz", "memory_timeline.raw.json.gz"),
         ("ranks_slow_host", "ranks_slow_loader"), ("serving_eager.json", "serving_prefill.json"),
         ("run_before", "run_after", "run_sick"), ("run_memory", "run_sick")]


def main():
    program, testdata = sys.argv[1:]
    screens = screen.Screens(os.path.abspath(program))
    folder = pathlib.Path(testdata)
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".py", ".tsv", ".md"):
            screens.check(path.name, path)
    for names in PAIRS:
        screens.check_command("diff " + " ".join(names), "diff", *(folder / name for name in names))
    return screens.exit_status()


if __name__ == "__main__":
    sys.exit(main())
