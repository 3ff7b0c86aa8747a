# SPDX-License-Identifier: MIT
"""The loop of programs that hold tscope against the truth of random traces, one for each seed.

usage of those: TSCOPE [ROUNDS [FIRST_SEED]]
"""
import pathlib
import sys
import tempfile

MOST_SHOWN = 8  # differences of a seed


def main(check, rounds):
    """check(program, seed, folder): the differences. Returns the exit status."""
    program, *numbers = sys.argv[1:]
    rounds, first = (*map(int, numbers), *(rounds, 1)[len(numbers):])
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + rounds):
            found = list(check(str(pathlib.Path(program).resolve()), seed, pathlib.Path(folder)))
            wrong += bool(found)
            for difference in found[:MOST_SHOWN]:
                print(f"seed {seed}: {difference}")
    print(f"{rounds - wrong} of {rounds} traces agree")
    return wrong > 0
