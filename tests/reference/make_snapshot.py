#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a snapshot of CUDA's allocator whose truth is known: simulates a training job on a
simulated allocator, writes the snapshot as PyTorch would, and beside it what it must show
(FILE.truth.json). The same options give the same bytes.

usage: make_snapshot.py FILE [options]      FILE may end in .gz or .zst
"""
import argparse
import json
import os
import sys

import cuda_allocator
import snapshot_truth
import snapshot_writers
import training_program
from cuda_allocator import ALL, DEFAULT_POOL, MIB, NEVER

START_US = 1_763_324_225_000_000
MAX_SPLITS_MB = (32, 64, 128, 512)  # what would have helped is tried with these
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
DEFAULTS = {
    "seed": 0, "steps": 4, "devices": 1, "layers": 4, "hidden": 1024, "tokens": 4096,
    "vocabulary": 32000, "varies": True, "has_cpp": False, "depth": 0, "leak": 0, "spike": 0,
    "streams": False, "graphs": False, "eval_every": 0, "empty_cache_every": 0, "level": ALL,
    "record_at": "start", "oom": "none", "after_oom": "stop", "capacity": 8 << 30,
    "has_snapshots": False, "is_expandable": False, "max_split_mb": 0}


class Run:
    """A job carried out. ended_at: the number of the operation that stopped it, or None."""

    def __init__(self, plan, operations):
        self.settings = [cuda_allocator.Settings(
            plan["capacity"], 300 * MIB, plan["is_expandable"],
            plan["max_split_mb"] * MIB or float("inf"))] * plan["devices"]
        self.devices = [cuda_allocator.Allocator(settings, 0x7f0000000000 + (device << 44))
                        for device, settings in enumerate(self.settings)]
        self.live, self.annotations, self.now_us = {}, [], START_US
        self.first_oom = None
        for number, operation in enumerate(operations):
            try:
                getattr(self, "do_" + operation[0])(*operation[1:])
            except cuda_allocator.OutOfMemory:
                self.first_oom = number if self.first_oom is None else self.first_oom
                if plan["after_oom"] == "stop":
                    break

    def do_alloc(self, device, number, size, stream, stack, tag):
        self.live[number] = self.devices[device].malloc(size, stream, stack, tag)

    def do_free(self, device, number, stack):
        one = self.live.pop(number, None)  # not there where its request failed
        if one:
            self.devices[device].free(one, stack)

    def do_use(self, device, number, stream, delay_us):
        if number in self.live:
            self.devices[device].use_on(self.live[number], stream, delay_us)

    def do_empty_cache(self, device, stack):
        self.devices[device].empty_cache(stack)

    def do_capture(self, device, pool_id):
        self.devices[device].capture = pool_id

    def do_record(self, level):
        for allocator in self.devices:
            allocator.record(level)

    def do_tick(self, elapsed_us):
        self.now_us += elapsed_us
        for allocator in self.devices:
            allocator.now_us = self.now_us

    def do_snapshot(self):
        for allocator in self.devices:
            allocator.note("snapshot", 0, allocator.active_bytes(), 0, None, DEFAULT_POOL)

    def do_annotate(self, name, stage):
        self.annotations.append({"name": name, "stage": stage, "device": 0, "time_us": self.now_us})

    def do_mark(self, name):
        pass

    def window_start(self, device, max_entries):
        """The first log entry that the device's ring buffer still holds."""
        allocator = self.devices[device]
        if allocator.record_start is None:
            return len(allocator.log)
        return max(allocator.record_start, len(allocator.log) - (max_entries or len(allocator.log)))

    def window(self, device, max_entries):
        return self.devices[device].log[self.window_start(device, max_entries):]


def usable_plan(plan, era):
    """Without what the era's allocator did not have; the two settings exclude each other."""
    is_expandable = plan["is_expandable"] and "expandable" in snapshot_writers.ERAS[era]
    return {**plan, "is_expandable": is_expandable,
            "max_split_mb": 0 if is_expandable else plan["max_split_mb"]}


def what_helps(plan):
    """The same operations under other settings: which get past the one that failed."""
    operations = list(training_program.Job(plan).operations())
    first = Run({**plan, "after_oom": "stop"}, operations).first_oom
    if first is None:
        return None
    operations = operations[:first + 1]
    quiet = {**plan, "after_oom": "stop", "level": NEVER}
    made = {"expandable_segments": {**quiet, "is_expandable": True, "max_split_mb": 0}}
    for size in MAX_SPLITS_MB:
        made[f"max_split_size_mb:{size}"] = {**quiet, "is_expandable": False, "max_split_mb": size}
    return {name: Run(changed, operations).first_oom is None for name, changed in made.items()}


def simulate(plan, max_entries, era, is_json=False):
    """Returns (run, truth)."""
    plan = usable_plan(plan, era)
    run = Run(plan, training_program.Job(plan).operations())
    found = snapshot_truth.figures(run, era, max_entries, is_json)
    return run, {"plan": plan, "era": era, "max_entries": max_entries, "figures": found,
                 "simulation": snapshot_truth.simulation_only(run, found, max_entries),
                 "helps": what_helps(plan) if run.first_oom is not None else None}


def steps_for(plan, size):
    """How many steps make a pickle of about that many bytes: two short runs, and a line."""
    sizes = []
    for steps in (2, 4):
        short = {**plan, "steps": steps}
        run = Run(short, training_program.Job(short).operations())
        data = snapshot_writers.Builder(run, "2.9", 0).build()
        # Long memo numbers are those of big files: 5 bytes for a frame instead of 2 or 3.
        sizes.append(sum(70 * len(trace) for trace in data["device_traces"])
                     + sum(5 * len(frames) for frames in frame_lists(data)))
    return max(4, 4 + (size - sizes[1]) * 2 // (sizes[1] - sizes[0]))


def frame_lists(data):
    """Each list of frames once."""
    lists = {id(entry["frames"]): entry["frames"] for trace in data["device_traces"]
             for entry in trace if "frames" in entry}
    return lists.values()


def to_bytes(text):
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1] in UNITS else int(text)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--truth", help="where the truth goes (FILE.truth.json)")
    parser.add_argument("--random", action="store_true", help="everything else by the seed")
    parser.add_argument("--era", choices=sorted(snapshot_writers.ERAS), default="2.9")
    parser.add_argument("--protocol", type=int, choices=range(6), default=4)
    parser.add_argument("--max-entries", type=int, default=0, help="the ring buffer's, 0: no end")
    parser.add_argument("--no-history", action="store_true", help="nothing was recorded")
    parser.add_argument("--json", action="store_true", help="as JSON, as users rewrite them")
    parser.add_argument("--size", type=to_bytes, help="about that many bytes: 1G")
    parser.add_argument("--expandable", dest="is_expandable", action="store_true", default=None)
    parser.add_argument("--snapshots", dest="has_snapshots", action="store_true", default=None)
    parser.add_argument("--cpp-frames", dest="has_cpp", action="store_true", default=None)
    for name in ("streams", "graphs"):
        parser.add_argument("--" + name, action="store_true", default=None)
    for name in ("seed", "steps", "devices", "layers", "hidden", "tokens", "vocabulary", "depth",
                 "eval-every", "empty-cache-every", "max-split-mb"):
        parser.add_argument("--" + name, type=int)
    for name in ("leak", "spike", "capacity"):
        parser.add_argument("--" + name, type=to_bytes)
    parser.add_argument("--level", type=int, choices=(1, 2, 3), help="state, alloc, all")
    parser.add_argument("--record-at", choices=("start", "model", "step"))
    parser.add_argument("--oom", choices=("none", "fragmentation", "capacity", "retry"))
    parser.add_argument("--after-oom", choices=("stop", "continue"))
    return parser.parse_args(arguments)


def plan_of(options):
    plan = training_program.make_plan(options.seed or 0) if options.random else dict(DEFAULTS)
    plan.update({k: v for k, v in vars(options).items() if k in plan and v is not None})
    if options.no_history:
        plan["record_at"] = "never"
    if options.size:
        plan.update(depth=options.depth or 100, varies=False, leak=options.leak or 4096)
        plan["steps"] = steps_for(plan, options.size)
    return plan


def main():
    options = parse(sys.argv[1:])
    run, truth = simulate(plan_of(options), options.max_entries, options.era, options.json)
    data = snapshot_writers.Builder(run, options.era, options.max_entries).build()
    snapshot_writers.write(data, options.file, options.era == "cpp", options.protocol, options.json)
    with open(options.truth or options.file + ".truth.json", "w", encoding="utf-8") as file:
        json.dump(truth, file, indent=1, sort_keys=True)
        file.write("\n")
    print(f"{options.file}: {os.path.getsize(options.file)} bytes, "
          f"{truth['figures']['entry_count']} entries, "
          f"{len(truth['figures']['segments'])} segments")


if __name__ == "__main__":
    main()
