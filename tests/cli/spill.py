#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report is the same, byte for byte, whether spans are in memory or in a file beside it.

usage: spill.py TSCOPE COUNT [PATH...]

COUNT random traces, and each trace that is a PATH or in one, are read with limits that they do not
keep: without a folder for the file operators are given up, with one nothing is. Names count as
memory nevertheless: where they alone are beyond the limit, operators are given up as without.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

LIMITS = ("9K", "16K", "128K", "1M", "8M")
ENDINGS = (".json", ".json.gz", ".json.zst")
SKIPPED = 77


class Writer:
    """Events of a few threads and streams, as profilers write them and as they do not."""

    def __init__(self, rng):
        self.rng, self.events, self.number = rng, [], 0
        self.start_us = rng.choice([0, 1_700_000_000_000_000])

    def add(self, phase, category, name, track, start_us, **more):
        pid, tid = track
        self.events.append({"ph": phase, "cat": category, "name": name, "pid": pid, "tid": tid,
                            "ts": round(self.start_us + start_us, 3), **more})

    def launch(self, thread, stream, now_us, external_id):
        """A call, its work on a device, and what binds them."""
        self.number += 1
        way = self.rng.choice(["correlation", "correlation", "flow", "id", "none"])
        args = {"External id": external_id} if way == "id" else {}
        if way == "correlation":
            args["correlation"] = self.number
        self.add("X", "cuda_runtime", self.rng.choice(["cudaLaunchKernel", "cudaMemcpyAsync"]), thread, now_us,
                 dur=self.rng.randrange(1, 9), args=dict(args))
        late_us = now_us + self.rng.randrange(5, 200)
        kind = self.rng.choice(["kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset"])
        self.add("X", kind, f"{kind}_{self.rng.randrange(9)}", (0, stream), late_us, dur=self.rng.randrange(1, 40),
                 args={**args, "device": 0, "stream": stream, "grid": [8, 1, 1], "block": [64, 1, 1]})
        if way == "flow":
            self.add("s", "ac2g", "ac2g", thread, now_us, id=self.number)
            self.add("f", "ac2g", "ac2g", (0, stream), late_us, id=self.number, bp="e")

    def step(self, number, thread, begin_us):
        now_us = begin_us
        for _ in range(self.rng.randrange(300, 900)):
            self.number += 1
            external_id, long_us = self.number, self.rng.randrange(10, 60)
            self.add("X", "cpu_op", f"aten::op{self.rng.randrange(20)}", thread, now_us, dur=long_us,
                     args={"External id": external_id, "Sequence number": self.number % 500,
                           "Input Dims": [[8, self.rng.choice([16, 32])]]})
            for _ in range(self.rng.randrange(3)):
                self.add("X", "cpu_op", f"aten::inner{self.rng.randrange(9)}", thread, now_us + 1, dur=long_us / 2)
            if self.rng.random() < 0.6:
                self.launch(thread, self.rng.randrange(7, 9), now_us + 3, external_id)
            self.rare(thread, now_us, long_us)
            now_us += long_us + self.rng.choice([0, 1, 5, 30])
        self.add("X", "user_annotation", f"ProfilerStep#{number}", thread, begin_us, dur=now_us - begin_us)
        return now_us + 10

    def rare(self, thread, now_us, long_us):
        chance = self.rng.random()
        if chance < 0.05:
            self.add("B", "cpu_op", "slice", thread, now_us)
            self.add("E", "cpu_op", "slice", thread, now_us + long_us)
        elif chance < 0.10:
            self.add("i", "cpu_instant_event", "[memory]", thread, now_us, s="t",
                     args={"Device Type": 1, "Device Id": 0, "Bytes": 512, "Total Allocated": 4096 * self.number,
                           "Total Reserved": 1 << 30})
        elif chance < 0.13:
            self.add("C", "", "loss", thread, now_us, args={"value": self.rng.random()})
        elif chance < 0.16:
            self.add("X", "python_function", f"train.py({self.number % 30}): forward", thread, now_us,
                     dur=self.rng.choice([5, 500]))
        elif chance < 0.17:
            self.add("X", "cuda_sync", "Event Sync", (0, 7), now_us, dur=3,
                     args={"correlation": self.number, "stream": 7, "wait_on_stream": 8})
        elif chance < 0.172:
            self.add("X", "cpu_op", "far", thread, now_us + self.rng.choice([-1, 1]) * 10_000_000_000, dur=1)

    def trace(self):
        for thread in range(self.rng.randrange(1, 4)):
            now_us = self.rng.randrange(1000)
            for step in range(self.rng.randrange(4, 7)):
                now_us = self.step(step, (100, 100 + thread), now_us)
        order = self.rng.choice(["as made", "by time", "by category", "shuffled", "in runs"])
        if order == "by time":
            self.events.sort(key=lambda event: event["ts"])
        elif order == "by category":
            self.events.sort(key=lambda event: event["cat"])
        elif order == "shuffled":
            self.rng.shuffle(self.events)
        elif order == "in runs":
            self.events = [event for part in range(5) for event in self.events[part::5]]
        return {"schemaVersion": 1, "traceEvents": self.events}


def report(tscope, path, folder, *options):
    done = subprocess.run([tscope, "trace", "--format", "json", *options, path], capture_output=True, check=False,
                          env={**os.environ, "TMPDIR": folder})
    if b"is memory itself" in done.stderr or b"on Linux only" in done.stderr:
        print("skipped: no disk here for the file")
        sys.exit(SKIPPED)
    return done.returncode, done.stdout, done.stderr


def compare(tscope, path, folder, limits):
    """How many limits were beyond memory and kept in the file, and those where the reports differ."""
    whole, kept, wrong = report(tscope, path, folder), 0, []
    for limit in limits if whole[0] == 0 else ():
        option = ("--memory-limit", limit)
        without = report(tscope, path, str(pathlib.Path(folder) / "none"), *option)
        if without == whole:
            break
        spilled = report(tscope, path, folder, *option)
        if spilled == whole:
            kept += 1
        elif spilled[:2] != without[:2]:
            wrong.append(f"{path}: --memory-limit {limit}: {spilled[2].decode()[:200]}")
    return kept, wrong


def files_in(paths):
    for path in map(pathlib.Path, paths):
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in found if file.name.endswith(ENDINGS) and file.is_file())


def main():
    tscope, count, wrong, kept = os.path.abspath(sys.argv[1]), int(sys.argv[2]), [], 0
    with tempfile.TemporaryDirectory(dir=".") as folder:
        folder = os.path.abspath(folder)
        path = os.path.join(folder, "trace.json")
        for seed in range(count):
            with open(path, "w", encoding="ascii") as file:
                json.dump(Writer(random.Random(seed)).trace(), file)
            of_one, differing = compare(tscope, path, folder, ["40K"])
            kept += of_one
            wrong += [f"seed {seed}: {text}" for text in differing]
            if not of_one and not differing:
                wrong.append(f"seed {seed}: the limit is none, or names alone are beyond it")
        print(f"{kept} of {count} random traces were in the file, and the same")
        files = list(files_in(sys.argv[3:]))
        kept = 0
        for file in files:
            of_one, differing = compare(tscope, str(file), folder, LIMITS)
            kept += of_one
            wrong += differing
        print(f"{kept} reports of {len(files)} files were the same from the file")
    print("\n".join(wrong[:20]))
    return bool(wrong) or (bool(files) and not kept)


if __name__ == "__main__":
    sys.exit(main())
