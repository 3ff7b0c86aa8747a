#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces as Composer's JSONTraceHandler writes them, of random jobs: several ranks whose clocks are
off, microbatches, evaluations, callbacks and algorithms, counters, arrays without an end, merged
files. With what the job knows of itself.

usage: make_composer_traces.py SEED FOLDER   writes the traces of that seed
"""
import json
import pathlib
import random
import sys
import types

EPOCH_US = 1646775076630000
CALLBACKS = ("JSONTraceHandler", "SystemProfiler", "CheckpointSaver", "LRMonitor", "SpeedMonitor")
ALGORITHMS = ("LabelSmoothing", "MixUp")
NANOSECONDS = 1000
MERGED_SORT_INDEX = 99999  # what the merger gives each thread


class Rank:
    """Writes one rank's events; knows at any instant what is open. Times are of an ideal clock in
    microseconds, what is written is off by clock_us."""

    def __init__(self, rng, plan, rank):
        self.rng, self.plan, self.rank = rng, plan, rank
        self.clock_us = 0 if rank == 0 else rng.choice((0, 37, -1500, 250000))
        self.tid = 7000 + rank
        self.now = EPOCH_US
        self.epoch = self.batch = 0
        self.events, self.open = [], []
        self.pieces = []    # (start, end, names of the spans that are open), outermost first
        self.marks = []     # (batch, start, end) of each train_batch
        self.calls = []     # (kind, name, event, start, end)
        self.counters = []  # (time, counter, series, value)

    # ---- events ----

    def put(self, name, phase, args=None, **more):
        clock = {"epoch": self.epoch, "batch": self.batch}
        self.events.append({"name": name, "cat": more.pop("cat", ""), "ph": phase,
                            "ts": self.now + self.clock_us, "pid": self.rank, "tid": self.tid,
                            "args": clock if args is None else args, **more})

    def pass_time(self, mean_us):
        """Lets time go by; at least a microsecond, so that no two events of note coincide."""
        start = self.now
        self.now += max(1, round(mean_us * self.rng.uniform(0.5, 1.5)))
        self.pieces.append((start, self.now, tuple(self.open)))

    def begin(self, name, cat=""):
        self.put(name, "B", cat=cat)
        if name.startswith("event/"):
            self.put(name, "i", s="p")
        self.open.append(name)
        return self.now

    def end(self, name, cat=""):
        self.open.pop()
        self.put(name, "E", cat=cat)

    def span(self, name, mean_us):
        self.begin(name)
        self.pass_time(mean_us)
        self.end(name)
        self.pass_time(3)

    # ---- what happens ----

    def hooks(self, event):
        """All that listen to an event of the trainer, one after the other."""
        listeners = [("algorithm", name) for name in self.plan["algorithms"]
                     if (event, name) in self.plan["listens"]]
        for kind, name in listeners + [("callback", name) for name in self.plan["callbacks"]]:
            self.call(kind, name, event)

    def call(self, kind, name, event):
        full, cat = f"{kind}/{name}/event/{event}", f"{event},{name}"
        start = self.begin(full, cat)
        if name == "SystemProfiler" and event == "batch_end" and self.rng.random() < 0.8:
            self.count()
        slow = name == self.plan["slow_callback"] and event == "batch_end"
        self.pass_time(900 if slow else 5)
        if self.rng.random() < 0.02:
            self.call(*self.rng.choice((("callback", "Inner"), (kind, name))), event)
        self.end(full, cat)
        self.calls.append((kind, name, event, start, self.now))
        self.pass_time(4)

    def count(self):
        values = {"cpu": {"cpu_percent": round(self.rng.uniform(0, 100), 1)},
                  "memory/virtual": {"used_gb": self.rng.randrange(1 << 30)},
                  "memory/cuda": {"allocated": self.rng.randrange(1 << 36)},
                  "disk/sda/read_time": {"field_name": self.rng.randrange(1 << 20)},
                  "network/eth0": {"kb_sent": self.rng.randrange(1 << 30)}}
        for counter, series in values.items():
            is_text = self.plan["counts_as_text"]
            self.put(counter, "C", {name: str(value) if is_text else value
                                    for name, value in series.items()}, cat=counter)
            self.counters += [(self.now, counter, name, value) for name, value in series.items()]

    def synchronise(self):
        """All ranks write their clocks down at one moment."""
        for name, args in (
                ("process_name", {"name": f"Rank {self.rank} training loop process"}),
                ("thread_name", {"name": "Training Loop"}),
                ("thread_sort_index", {"sort_index": 0}),
                ("global_rank", {"value": self.rank}), ("process_sort_index",
                                                        {"sort_index": self.rank}),
                ("clock_sync_timestamp_us", {"value": self.now + self.clock_us + 17}),
                ("clock_sync_error_bound", {"value": self.plan["error_us"][self.rank]})):
            self.put(name, "M", args)

    def train_batch(self):
        self.span("dataloader/train", self.plan["data_us"])
        self.hooks("after_dataloader")
        self.hooks("batch_start")
        self.begin("event/batch")
        self.hooks("before_train_batch")
        start = self.begin("event/train_batch")
        for _ in range(self.plan["microbatches"]):
            for name, mean_us in (("forward", 140), ("loss", 60), ("backward", 300)):
                self.hooks("before_" + name)
                slow = self.plan["slow_rank"] == self.rank and name == "forward"
                self.span("event/" + name, mean_us * (3 if slow else 1))
                self.hooks("after_" + name)
        self.pass_time(80)  # the optimizer
        self.end("event/train_batch")
        self.marks.append((self.batch, start, self.now))
        self.hooks("after_train_batch")
        self.batch += 1
        self.end("event/batch")
        self.hooks("batch_end")

    def evaluate(self):
        self.hooks("eval_start")
        self.begin("event/eval")
        for _ in range(2):
            self.span("dataloader/eval_dataset", 90)
            self.begin("event/eval_batch")
            self.span("event/eval_forward", 110)
            self.pass_time(20)
            self.end("event/eval_batch")
        self.end("event/eval")
        self.hooks("eval_end")

    def train(self):
        self.synchronise()
        self.pass_time(200)
        for _ in range(self.plan["epochs"]):
            self.begin("event/epoch")
            for index in range(self.plan["batches"]):
                self.train_batch()
                if self.plan["eval_every"] and (index + 1) % self.plan["eval_every"] == 0:
                    self.evaluate()
            self.epoch += 1
            self.end("event/epoch")
            self.hooks("epoch_end")


# ---- files ----------------------------------------------------------------------------------


def array_text(events, is_closed):
    """A line an event; the end of the array may be missing."""
    return "[\n" + ",\n".join(map(json.dumps, events)) + ("\n]\n" if is_closed else ",\n")


def merged_text(ranks):
    """As Composer's merger makes it: all on the clock of the lowest rank."""
    out = []
    for one in ranks:
        out.append({"name": "thread_sort_index", "ph": "M", "pid": one.rank, "tid": one.tid,
                    "args": {"sort_index": MERGED_SORT_INDEX}})
        out += [{**event, "ts": event["ts"] + ranks[0].clock_us - one.clock_us}
                for event in one.events]
    return "[\n    " + ",\n    ".join(map(json.dumps, out)) + "\n]\n"


def make_plan(rng):
    rank_count = rng.choice((1, 1, 2, 3))
    return {
        "rank_count": rank_count, "epochs": rng.choice((1, 2)), "batches": rng.choice((1, 3, 6)),
        "microbatches": rng.choice((1, 1, 2, 4)), "eval_every": rng.choice((0, 0, 2, 3)),
        "callbacks": rng.sample(CALLBACKS, rng.randrange(1, 5)),
        "algorithms": rng.sample(ALGORITHMS, rng.randrange(0, 3)),
        "listens": {(event, name) for event in ("after_dataloader", "before_forward", "after_loss")
                    for name in ALGORITHMS if rng.random() < 0.5},
        "slow_callback": rng.choice((None, *CALLBACKS)), "data_us": rng.choice((60, 2000)),
        "slow_rank": rng.randrange(rank_count) if rng.random() < 0.5 else -1,
        "counts_as_text": rng.random() < 0.5, "is_closed": rng.random() < 0.7,
        "error_us": [rng.randrange(1, 40) for _ in range(rank_count)],
        "is_merged": rank_count > 1 and rng.random() < 0.3,
    }


def make(seed, folder):
    """Writes the traces. Returns paths (a merged file is that of all ranks), plan and ranks."""
    rng = random.Random(seed)
    plan = make_plan(rng)
    ranks = [Rank(rng, plan, rank) for rank in range(plan["rank_count"])]
    for one in ranks:
        one.train()
    folder = pathlib.Path(folder) / "run" / "traces"
    folder.mkdir(parents=True)
    paths = []
    for one in ranks:
        name = f"ep{one.epoch}-ba{one.batch}-rank{one.rank}.json"
        paths.append(folder / ("merged_trace.json" if plan["is_merged"] else name))
        if not plan["is_merged"]:
            paths[-1].write_text(array_text(one.events, plan["is_closed"]))
    if plan["is_merged"]:
        paths[0].write_text(merged_text(ranks))
    return types.SimpleNamespace(paths=paths, plan=plan, ranks=ranks)


def main():
    make(int(sys.argv[1]), sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
