#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every published figure that concerns one rank: what its publisher says, what tscope says.

usage: check_published.py TSCOPE MODEL_PROBE [--all]    --all: print what agrees as well
"""
import pathlib
import sys

import program
import published_flops
import published_hta
import published_kineto
import published_speedscope
import published_tracelens

PUBLISHERS = (published_kineto, published_hta, published_tracelens, published_flops,
              published_speedscope)


def main():
    program.need(program.DATA)
    tscope = program.Program(sys.argv[1])
    probe = pathlib.Path(sys.argv[2])
    results = program.Results(prints_all="--all" in sys.argv)
    for publisher in PUBLISHERS:
        publisher.check(tscope, probe, results)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
