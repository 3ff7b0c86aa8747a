#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces as VizTracer writes them, of random programs: several threads, recursion, calls so short
that they share their nanosecond, pauses of the garbage collector. With what is known of them.

usage: make_viztracer.py SEED FILE   writes the trace of that seed
"""
import json
import pathlib
import random
import sys

BOOT_NS = 3373219276264
NAMES = ("fib (/job/a.py:3)", "load (/job/data.py:12)", "<module> (/job/größe.py:1)",
         "builtins.len", "time.sleep", "Model.forward (/job/net.py:40)")


class Thread:
    """Calls functions at random; its clock is in nanoseconds."""

    def __init__(self, rng, tid, coarse):
        self.rng, self.tid, self.now = rng, tid, BOOT_NS + rng.randrange(1000)
        self.coarse = coarse
        self.calls = []  # (name, start, duration), by end
        self.figures = {}
        self.open = []

    def pass_time(self):
        """Often none at all."""
        passed = self.rng.choice((0, 0, 1, 2, 700)) if self.coarse else self.rng.randrange(1, 9000)
        self.now += passed
        if self.open:
            self.open[-1][1] += passed

    def call(self, depth):
        name = self.rng.choice(NAMES)
        start, is_outermost = self.now, all(name != other for other, _ in self.open)
        self.open.append([name, 0])
        self.pass_time()
        for _ in range(self.rng.choice((0, 1, 1, 2)) if depth else 0):
            self.call(depth - 1)
            self.pass_time()
        own = self.open.pop()[1]
        self.calls.append((name, start, self.now - start))
        row = self.figures.setdefault(name, [0, 0, 0])
        row[0] += 1
        row[1] += own
        row[2] += self.now - start if is_outermost else 0


def microseconds(ns):
    """With all decimals; as VizTracer's own writer has it."""
    return f"{ns // 1000}.{ns % 1000:03}"


def make(seed):
    """The text of a trace, (calls, own time, whole time) by function, and pauses."""
    rng = random.Random(seed)
    coarse, figures, pauses, lines = rng.random() < 0.5, {}, [], []
    for tid in rng.sample((802, 803, 7777), rng.randint(1, 3)):
        thread = Thread(rng, tid, coarse)
        lines.append(json.dumps({"ph": "M", "pid": 802, "tid": tid, "name": "thread_name",
                                 "args": {"name": f"Thread-{tid}"}}))
        for _ in range(rng.choice((1, 5, 30))):
            thread.call(rng.choice((0, 2, 5)))
            thread.pass_time()
        for name, start, duration in thread.calls:
            lines.append(f'{{"pid": 802, "tid": {tid}, "ts": {microseconds(start)}, "ph": "X", '
                         f'"dur": {microseconds(duration)}, "name": {json.dumps(name)}, '
                         '"cat": "FEE"}')
        for name, row in thread.figures.items():
            figures[name] = tuple(map(sum, zip(row, figures.get(name, (0, 0, 0)))))
    at = BOOT_NS
    for _ in range(rng.choice((0, 0, 3))):
        begin, at = at + rng.randrange(1, 9999), at + 10000 + rng.randrange(99999)
        for time, collecting in ((begin, 1), (at, 0)):
            lines.append(f'{{"pid": 802, "tid": 802, "ts": {microseconds(time)}, "ph": "C", '
                         '"name": "garbage collection", "args": {"collecting": '
                         f'{collecting}, "collected": 0, "uncollectable": 0}}}}')
        pauses.append(at - begin)
    text = ('{"traceEvents": [' + ", ".join(lines) + '], "viztracer_metadata": '
            '{"version": "1.1.1", "overflow": false}, "file_info": {"files": {"/job/a.py": '
            '["s = \'</script>\'\\n", 1]}, "functions": {}}}')
    return text, figures, pauses


def main():
    pathlib.Path(sys.argv[2]).write_text(make(int(sys.argv[1]))[0], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
