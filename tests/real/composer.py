# SPDX-License-Identifier: MIT
"""What a Composer trace tells of one rank, by the shortest way that is plainly right: the spans
that are open at each instant, then sums over instants. Times are integer nanoseconds."""
import collections
import math

import traces

CALL_KINDS = ("callback", "algorithm")
LINES = ("data", "forward", "backward", "optimizer", "other")
# Whose own callbacks are not to blame on the job: without its profiler they are not there.
# Composer divides sizes by other numbers than it says, and calls all figures of disks "field_name".
FACTORS = {("memory/virtual", "used_gb"): 512, ("memory/swap", "used_gb"): 512,
           ("network/eth0", "kb_sent"): 8}
PROFILERS = ("JSONTraceHandler", "TorchProfiler", "SystemProfiler", "DataloaderProfiler")
# What an open span is by the begin of its name; the one that was opened last decides.
LINES_OF_NAMES = (("callback/", "other"), ("algorithm/", "other"), ("dataloader", "data"),
                  ("event/dataloader", "data"), ("event/forward", "forward"),
                  ("event/loss", "forward"), ("event/backward", "backward"),
                  ("event/train_batch", "optimizer"))


class Rank:
    """pieces: (start, end, names of open spans, outermost first), disjoint and in order; marks:
    (batch, start, end) of each train_batch; calls: (kind, name, event, start, end); counters:
    (time, counter, series, value)."""

    def __init__(self, pieces, marks, calls, counters):
        self.pieces, self.marks, self.calls, self.counters = pieces, marks, calls, counters


def call_of(name):
    """kind, name, event of "callback/NAME/event/EVENT", or None."""
    parts = name.split("/", 3)
    return (parts[0], parts[1], parts[3]) if parts[0] in CALL_KINDS and len(parts) == 4 else None


def read_thread(events):
    """Events of one thread, in the order of the file."""
    made, spans, last = Rank([], [], [], []), [], None
    for event in sorted(events, key=lambda one: traces.to_ns(one["ts"])):
        time, name = traces.to_ns(event["ts"]), event["name"]
        if last is not None and time > last:
            made.pieces.append((last, time, tuple(one["name"] for one, _ in spans)))
        last = time
        if event["ph"] == "B":
            spans.append((event, time))
        elif event["ph"] == "E":
            begun, start = spans.pop()
            assert begun["name"] == name, (begun, event)
            if name == "event/train_batch":
                made.marks.append((begun["args"]["batch"], start, time))
            if call_of(name):
                made.calls.append((*call_of(name), start, time))
    return made


def read_counters(events):
    return [(traces.to_ns(event["ts"]), event["name"], series, float(value))
            for event in events if event["ph"] == "C" for series, value in event["args"].items()]


def read(events):
    """The rank whose events these are; its training loop is the thread with the batches."""
    threads = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "BE":
            threads[str(event["pid"]), str(event["tid"])].append(event)
    made = max(map(read_thread, threads.values()), key=lambda one: len(one.marks))
    made.counters = read_counters(events)
    return made


# ---- figures --------------------------------------------------------------------------------


def line_of(names):
    for name in reversed(names):
        for begin, line in LINES_OF_NAMES:
            if name.startswith(begin):
                return line
    return "other"


def windows(rank):
    """(batch, start, end): until the next batch starts or an evaluation begins; the last until its
    own end."""
    evaluations = [start for start, _, names in rank.pieces
                   if any(name.startswith("event/eval") for name in names)]
    marks = sorted(rank.marks, key=lambda mark: mark[1])
    found = []
    for index, (batch, start, end) in enumerate(marks):
        until = marks[index + 1][1] if index + 1 < len(marks) else end
        found.append((batch, start, min([until] + [at for at in evaluations if at >= end])))
    return found


def counted_windows(rank):
    """Without the last: the recording ends between its batch and the next."""
    found = [(start, end) for _, start, end in windows(rank)]
    return found[:-1] if len(found) > 1 else found


def lines_of_steps(rank):
    """(batch, start, wall, time of each line)."""
    found = []
    for batch, start, end in windows(rank):
        lines = collections.Counter(dict.fromkeys(LINES, 0))
        for low, high, names in rank.pieces:
            lines[line_of(names)] += max(0, min(high, end) - max(low, start))
        found.append((batch, start, end - start, dict(lines)))
    return found


def length(pieces):
    return sum(high - low for low, high in pieces)


def pieces_where(rank, is_wanted):
    return [(low, high) for low, high, names in rank.pieces if any(map(is_wanted, names))]


def within(pieces, wanted):
    return sum(max(0, min(high, b) - max(low, a)) for low, high in pieces for a, b in wanted)


def call_figures(rank):
    """Of each callback and algorithm, and of each with its event, and of all."""
    steps = counted_windows(rank)
    wall = length(steps)

    def is_of(kind, name, event=None):
        return lambda other: (call_of(other) or (None,) * 3)[:2 if event is None else 3] == (
            (kind, name) if event is None else (kind, name, event))

    by_name, by_event = {}, {}
    for kind, name, event, start, end in rank.calls:
        for key, table in (((kind, name), by_name), ((kind, name, event), by_event)):
            row = table.setdefault(key, {"call_count": 0, "max_ns": 0})
            row["call_count"] += 1
            row["max_ns"] = max(row["max_ns"], end - start)
    for key, row in list(by_name.items()) + list(by_event.items()):
        pieces = pieces_where(rank, is_of(*key))
        row["total_ns"] = length(pieces)
        if len(key) == 2:
            row["step_ns"] = within(pieces, steps) / len(steps)
            row["step_ratio"] = within(pieces, steps) / wall
    every = pieces_where(rank, call_of)
    profiler = pieces_where(rank, lambda name: (call_of(name) or ("", ""))[1] in PROFILERS)
    blamed = {key: row for key, row in by_name.items() if key[1] not in PROFILERS}
    top = max(blamed, key=lambda key: blamed[key]["step_ns"], default=None)
    facts = {"name_count": len(by_name), "call_count": len(rank.calls), "total_ns": length(every),
             "in_step_ns_per_step": within(every, steps) / len(steps),
             "step_ratio": within(every, steps) / wall,
             "profiler_ns_per_step": within(profiler, steps) / len(steps)}
    if top and blamed[top]["step_ns"]:
        facts["top_ns_per_step"] = blamed[top]["step_ns"]
    evaluations = pieces_where(rank, lambda name: name.startswith("event/eval"))
    facts["evaluation_ns"] = length(evaluations)
    return facts, by_name, by_event


def counter_figures(rank):
    """(counter, series) → count, min, mean over time, max, last; and the first step that reached
    most."""
    series = collections.defaultdict(list)
    for time, counter, name, value in sorted(rank.counters, key=lambda one: one[0]):
        meant = counter.rsplit("/")[-1] if name == "field_name" else name
        series[counter, meant].append((time, value * FACTORS.get((counter, name), 1)))
    found = {}
    for key, points in series.items():
        values = [value for _, value in points]
        lasted = points[-1][0] - points[0][0]
        mean = math.fsum(value * (after - time) for (time, value), (after, _) in zip(
            points, points[1:])) / lasted if lasted else values[-1]
        largest_at = points[values.index(max(values))][0]
        step = [batch for batch, start, end in windows(rank) if start <= largest_at < end]
        found[key] = {"count": len(values), "min": min(values), "mean": mean, "max": max(values),
                      "last": values[-1], "max_step": step[0] if step else None}
    return found


def clock_of(events):
    """When all ranks met by the rank's clock, and how sure it is; None: it says nothing."""
    said = {event["name"]: event["args"].get("value") for event in reversed(events)
            if event["ph"] == "M"}
    return said.get("clock_sync_timestamp_us"), said.get("clock_sync_error_bound")
