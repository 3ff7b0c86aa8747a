#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Default reports of all test data fit one screen and begin with the answer.

usage: check_screens.py TSCOPE TESTDATA
"""
import os
import pathlib
import sys

import screen


def main():
    program, testdata = sys.argv[1:]
    screens = screen.Screens(os.path.abspath(program))
    for path in sorted(pathlib.Path(testdata).iterdir()):
        if path.suffix not in (".py", ".tsv", ".md"):
            screens.check(path.name, path)
    return screens.exit_status()


if __name__ == "__main__":
    sys.exit(main())
