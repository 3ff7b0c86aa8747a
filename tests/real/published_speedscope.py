# SPDX-License-Identifier: MIT
"""Self and total weights that speedscope's importer gives for its sample traces (B, E and X)."""
import collections
import re

import program

FOLDER = program.DATA / "jlfwong+speedscope"
SNAPSHOT = FOLDER / "src/import/__snapshots__/trace-event.test.ts.snap"
SAMPLES = FOLDER / "sample/profiles/trace-event"
EXPORT = re.compile(r"exports\[`importTraceEvents (.*?)`\] = `(.*?)`;", re.DOTALL)
STACK = re.compile(r'^ +"(.*) ([\d.]+)µs",$', re.MULTILINE)
ARGUMENTS = re.compile(r"( \{.*\}|\(unnamed\))$")  # speedscope's frames are names with args

# What holds no trace events but samples of a stack.
UNREAD = ("simple-with-samples", "multi-thread-with-samples")

# Where the importer departs from the format: why, and what is right.
ANY_NAME = "an E closes the open B that began last, whatever its name"
DEPARTURES = {
    "bex-interaction": ("of two alike in start and end the first in the file is the parent",
                        {"C": (0, 2000), "D": (2000, 2000)}),
    "end-non-top-of-stack": (ANY_NAME, {"B": (9000, 9000)}),
    "invalid-x-nesting": ("a span that ends inside another lasts no longer for it",
                          {"alpha": (5000, 10000)}),
    "out-of-order-unbalanced-name": (ANY_NAME, {"alpha": (2000, 10000), "beta": (8000, 8000)}),
    "too-many-end-events": (ANY_NAME, {"alpha": (1000, 5000), "beta": (4000, 4000)}),
    "unbalanced-name": (ANY_NAME, {"alpha": (2000, 10000), "beta": (8000, 8000)}),
}


def add_stacks(table, body):
    """Adds the weights of each stack to its frames; one that recurs in a stack counts once."""
    for stack, weight_us in STACK.findall(body):
        if not stack:
            continue  # nothing was open
        frames = [ARGUMENTS.sub("", frame) for frame in stack.split(";")]
        weight = round(float(weight_us) * 1000)
        table[frames[-1]][0] += weight
        for frame in set(frames):
            table[frame][1] += weight


def published():
    """file → name of frame → [self, total] in ns, over all threads."""
    tables, files = {}, {}
    for title, body in EXPORT.findall(SNAPSHOT.read_text()):
        name, _, what = re.sub(r" \d+$", "", title).partition(": ")
        if what == "profileGroup.name":
            files[name] = body.strip('"').removesuffix(".json")
        elif not what:
            table = tables.setdefault(name, collections.defaultdict(lambda: [0, 0]))
            add_stacks(table, body)
    return {files[name]: table for name, table in tables.items() if name in files}


def check(tscope, _probe, results):
    for name, table in sorted(published().items()):
        if name in UNREAD:
            continue
        report = tscope.report(SAMPLES / (name + ".json"))
        own = program.rows_by_name(report, "spans", "by_name", "self_ns", "total_ns")
        reason, right = DEPARTURES.get(name, ("", {}))
        for frame, figures in table.items():
            found = own.get(frame, (0, 0))
            results.check(f"speedscope {name} {frame or '(unnamed)'}", tuple(figures), found,
                          reason if right.get(frame) == found else "")
