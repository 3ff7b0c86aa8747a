# SPDX-License-Identifier: MIT
"""The loop of programs that hold tscope against the truth of what they make up, seed by seed.

usage of those: TSCOPE [ROUNDS [FIRST_SEED]]
"""
import functools
import pathlib
import sys
import tempfile

MOST_SHOWN = 8  # differences of a seed


def show(name, differences):
    """Prints the first of them; whether there are any."""
    differences = list(differences)
    for difference in differences[:MOST_SHOWN]:
        print(f"{name}: {difference}", flush=True)
    return bool(differences)


def run(check, numbers, rounds):
    """
    check(seed, folder): the differences; the folder is empty. numbers: of rounds and the first seed
    what was given. Returns the exit status.
    """
    rounds, first = (*map(int, numbers), *(rounds, 1)[len(numbers):])
    wrong = 0
    for seed in range(first, first + rounds):
        with tempfile.TemporaryDirectory() as folder:
            wrong += show(f"seed {seed}", check(seed, pathlib.Path(folder)))
    print(f"{rounds - wrong} of {rounds} seeds agree")
    return 1 if wrong else 0


def main(check, rounds):
    """The same of check(program, seed, folder), with the arguments of the command line."""
    program, *numbers = sys.argv[1:]
    return run(functools.partial(check, str(pathlib.Path(program).resolve())), numbers, rounds)
