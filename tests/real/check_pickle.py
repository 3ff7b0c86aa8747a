#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What our reader makes of a pickle is what Python's makes of it: values, the order of keys, and
what is one object. Random data in all protocols, then every pickle of the shared folder.

usage: check_pickle.py PICKLE_PROBE [SEED]
"""
import collections
import json
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile

import program

ROUNDS, MOST_VALUES = 60, 20_000
PICKLE_STARTS = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
INTEGERS = [0, 1, -1, 255, 256, 65535, 65536, 2**27 - 1, 2**27, -2**27, -2**27 - 1, 2**31 - 1, 2**31,
            -2**31, -2**31 - 1, 2**48, 2**63 - 1, 2**63, 2**64 - 1, -2**63]
REALS = [0.0, -0.0, 0.1, -1e300, 5e-324, 1e16, float("inf"), float("-inf"), float("nan")]
TEXTS = ["", "a", "action", "free_completed", "\\", "\\u0041", "\n\r\t\0\x1a", "caf\xe9", "\u20ac",
         "\U0001f600", "\ud800", "x" * 255, "y" * 256, "z" * 70000, "'\"", "C:\\Users\\n"]
BYTES = [b"", b"\0\xff", b"b" * 300]


# ---- Python's side: the lines that the probe prints, as data --------------------------------

class Dump:
    """Numbers lists and dicts in the order in which they are met."""

    def __init__(self, root):
        self.numbers, self.met = {}, []
        self.lines = [self.value(root)]
        for thing in self.met:  # grows while it is walked
            self.lines.append([[self.value(key), self.value(held)] for key, held in thing.items()]
                              if isinstance(thing, dict) else [self.value(item) for item in thing])

    def value(self, thing):
        if isinstance(thing, tuple):
            return [self.value(item) for item in thing]
        if isinstance(thing, (list, dict)):
            if id(thing) not in self.numbers:
                self.met.append(thing)
                self.numbers[id(thing)] = len(self.met)
            return {"dict" if isinstance(thing, dict) else "list": self.numbers[id(thing)]}
        if isinstance(thing, str):
            return thing.encode("utf-8", "surrogatepass").decode("latin-1")
        if isinstance(thing, (bytes, bytearray)):
            return {"bytes": thing.decode("latin-1")}
        return {"real": repr(thing)} if isinstance(thing, float) else thing


def real_of(members):
    """The probe writes reals in hexadecimal; repr() tells all of them apart, NaN included."""
    if "real" in members:
        members["real"] = repr(float.fromhex(members["real"]))
    return members


def probe_lines(probe, path):
    done = subprocess.run([probe, path], capture_output=True, check=False,
                          timeout=program.TIME_LIMIT_S)
    if done.returncode != 0:
        return done.stderr.decode(errors="replace").strip()
    return [json.loads(line, object_hook=real_of) for line in done.stdout.splitlines()]


def compare(results, probe, name, path):
    expected = Dump(pickle.loads(path.read_bytes())).lines
    found = probe_lines(probe, path)
    if expected == found:
        results.check(name, "all", "all")
    elif isinstance(found, str):
        results.check(name, f"{len(expected)} lines", found)
    else:
        at = next((i for i, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]),
                  min(len(expected), len(found)))
        results.check(f"{name}, line {at}", str(expected[at:at + 1])[:300],
                      str(found[at:at + 1])[:300])


# ---- random data ---------------------------------------------------------------------------------

class Maker:
    """Makes plain data, and takes what it has made before as often as something new."""

    def __init__(self, seed, protocol):
        self.random, self.made, self.protocol = random.Random(seed), [], protocol
        self.values_left = MOST_VALUES
        self.keys = self.random.sample([text for text in TEXTS if text.isalpha()], 3)

    def scalar(self):
        kinds = [INTEGERS, REALS, TEXTS, [None, True, False]] + [BYTES] * (self.protocol >= 3)
        return self.random.choice(self.random.choice(kinds))

    def count(self):
        return self.random.choice([0, 1, 2, 3, 5, 64, 65, 1000, 1001, 2500]
                                  if self.random.random() < 0.1 else [0, 1, 2, 3, 4, 7])

    def key(self, number):
        """Most dicts have the same few keys, some have many."""
        if number < len(self.keys):
            return self.keys[number]
        return self.random.choice([number, -number * 2**40, f"key {number}", (number, "pair"),
                                   number + 0.5, 2**64 - number])

    def value(self, depth):
        self.values_left -= 1
        if self.made and self.random.random() < 0.3:
            return self.random.choice(self.made)
        kind = self.random.choice(["scalar", "scalar", "list", "tuple", "dict"])
        if depth == 0 or self.values_left < 0:
            kind = "scalar"
        if kind == "scalar":
            return self.scalar()
        if kind == "tuple":
            return tuple(self.value(depth - 1) for _ in range(min(self.count(), 5)))
        if kind == "list":
            made = []
            self.made.append(made)  # before it is filled: it may hold itself
            made.extend(self.value(depth - 1) for _ in range(self.count()))
            return made
        made = self.random.choice([dict, dict, collections.OrderedDict,
                                   lambda: collections.defaultdict(dict)])()
        self.made.append(made)
        for number in range(self.count()):
            made[self.key(number)] = self.value(depth - 1)
        return made


def check_random(results, probe, folder, seed):
    path = folder / "random.pickle"
    for number in range(ROUNDS):
        protocol = number % (pickle.HIGHEST_PROTOCOL + 1)
        data = Maker(seed + number, protocol).value(5)
        # Python has two writers, one in C and one in Python, which do not write the same bytes.
        write = pickle.dumps if number % 2 else pickle._dumps  # pylint: disable=protected-access
        path.write_bytes(write(data, protocol))
        compare(results, probe, f"random data {seed + number}, protocol {protocol}", path)


def check_real(results, probe):
    for path in sorted(program.DATA.rglob("*")):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            is_pickle = file.read(2) in PICKLE_STARTS
        if is_pickle:
            compare(results, probe, program.short(path), path)


def main():
    results = program.Results()
    probe = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        check_random(results, probe, pathlib.Path(folder),
                     int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    if program.DATA.exists():
        check_real(results, probe)
    else:
        print("no real pickles: no shared data beside the source tree (see TSCOPE_SHARED)")
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
