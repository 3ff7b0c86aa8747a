#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the other files about memory that jobs leave, with what they must show beside each as
NAME.truth.json: memory timelines of torch.profiler, and the statistics of finetuning-scheduler.

usage: make_memory_files.py FOLDER [SEED]
"""
import collections
import gzip
import json
import pathlib
import pickle
import random
import sys

CATEGORIES = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient",
              "autograd_detail", "unknown")
PREEXISTING, CREATE, INCREMENT_VERSION, DESTROY = 1, 2, 3, 4
START_NS = 1_795_217_192_833_961_000


# ---- memory timelines -----------------------------------------------------------------------


class Tensors:
    """Tensors that come, change their category and go; rows as the profiler writes them."""

    def __init__(self, rng):
        self.rng, self.rows, self.live, self.now_ns = rng, [], {}, START_NS
        self.states = []  # (time_ns, {category: bytes}) after each row
        self.created = collections.Counter()

    def note(self, time_ns, action, size, category):
        self.rows.append([time_ns, action, size, category])

    def keep(self, time_ns):
        state = collections.Counter()
        for size, category in self.live.values():
            state[category] += size
        self.states.append((time_ns, state))

    def create(self, size, category, action=CREATE):
        time_ns = -1 if action == PREEXISTING else self.now_ns
        number = len(self.rows)
        self.live[number] = (size, category)
        self.created[category] += size
        self.note(time_ns, action, size, category)
        self.keep(time_ns)
        return number

    def change(self, number, category):
        size, before = self.live[number]
        self.note(self.now_ns, INCREMENT_VERSION, -size, before)
        self.live[number] = (size, category)
        self.note(self.now_ns, INCREMENT_VERSION, size, category)
        self.keep(self.now_ns)

    def destroy(self, number):
        size, category = self.live.pop(number)
        self.note(self.now_ns, DESTROY, -size, category)
        self.keep(self.now_ns)

    def pass_time(self):
        self.now_ns += self.rng.choice((0, 0, 300, 700, 1500, 90_000))


def make_tensors(seed):
    rng = random.Random(seed)
    tensors = Tensors(rng)
    parameters = [tensors.create(rng.randrange(4, 1 << 22), rng.choice((0, 0, 7)), PREEXISTING)
                  for _ in range(rng.choice((0, 1, 12)))]
    for _ in range(rng.choice((1, 3, 9))):
        kept = []
        for category in (2, *[rng.choice((3, 4, 4, 6)) for _ in range(rng.randrange(20))]):
            kept.append(tensors.create(rng.randrange(1, 1 << 24), category))
            tensors.pass_time()
        for number in parameters:
            if rng.random() < 0.3:
                tensors.change(number, rng.choice((0, 5)))
                tensors.pass_time()
        for number in kept:
            if rng.random() < 0.95:
                tensors.destroy(number)
                tensors.pass_time()
    return tensors


def coalesced(states, key_of):
    """The last state of each run of equal times."""
    made = []
    for time_ns, state in states:
        if made and made[-1][0] == key_of(time_ns):
            made[-1] = (key_of(time_ns), state)
        else:
            made.append((key_of(time_ns), state))
    earliest = min((t for t, _ in made if t >= 0), default=-1)
    return [(earliest if t < 0 else t, state) for t, state in made]


def timeline_truth(tensors, key_of):
    states = coalesced(tensors.states, key_of)
    sums = [sum(state.values()) for _, state in states]
    peak = sums.index(max(sums))

    def named(state):
        return {name: state[i] for i, name in enumerate(CATEGORIES)}
    return {"count": len(states), "start_time": states[0][0], "end_time": states[-1][0],
            "peak_bytes": sums[peak], "peak_index": peak, "peak_time": states[peak][0],
            "peak_by_category": named(states[peak][1]), "end_bytes": sums[-1],
            "end_by_category": named(states[-1][1]),
            "category_peaks": {name: max(state[i] for _, state in states)
                               for i, name in enumerate(CATEGORIES)}}


def raw_truth(tensors):
    rows = tensors.rows
    return {**timeline_truth(tensors, lambda t: t), "unit": "ns", "row_count": len(rows),
            "preexisting_bytes": sum(r[2] for r in rows if r[1] == PREEXISTING),
            "preexisting_count": sum(r[1] == PREEXISTING for r in rows),
            "created_count": sum(r[1] == CREATE for r in rows),
            "destroyed_count": sum(r[1] == DESTROY for r in rows),
            "changed_count": sum(r[1] == INCREMENT_VERSION for r in rows) // 2}


def to_us(time_ns):
    return time_ns if time_ns < 0 else int(time_ns / 1000)


def write_timelines(folder, seed):
    tensors = make_tensors(seed)
    pairs = coalesced(tensors.states, to_us)
    plain = [[t for t, _ in pairs], [[0, *(state[i] for i in range(8))] for _, state in pairs]]
    text, raw = json.dumps(plain).encode(), json.dumps(tensors.rows).encode()
    truth = {**timeline_truth(tensors, to_us), "unit": "us"}
    yield folder / "timeline.json", text, truth
    yield folder / "timeline.json.gz", gzip.compress(text, mtime=0), truth
    yield folder / "timeline.raw.json.gz", gzip.compress(raw, mtime=0), raw_truth(tensors)


# ---- finetuning-scheduler's statistics ------------------------------------------------------

COUNTERS = ("active.all.allocated", "active_bytes.all.current", "active_bytes.all.peak",
            "allocated_bytes.all.current", "allocated_bytes.all.peak", "num_alloc_retries",
            "num_ooms", "reserved_bytes.all.current", "reserved_bytes.all.peak")
HOST_COUNTERS = ("rss", "vms", "rss_diff", "npp_diff")


def make_stats(seed):
    """{snapshot key: {name: value}} in the order of the job."""
    rng = random.Random(seed)
    stats, current = {}, rng.randrange(1 << 30)
    names = [n for n in COUNTERS + HOST_COUNTERS if rng.random() < 0.85]
    if rng.random() < 0.2:
        names.append("a.counter.whose.name.is.so.long.that.it.is.no.simple.key." * 3)
    for rank in range(rng.choice((1, 1, 2))):
        for iteration in range(rng.choice((1, 2, 3))):
            for function in ("training_step", "validation_step", "configure.optimizers"):
                for context in ("start", "end"):
                    current += rng.randrange(1 << 20)
                    values = {n: value_of(rng, n, current) for n in names}
                    if rng.random() < 0.95:
                        stats[f"{rank}.{function}.{iteration}.{context}"] = values
    return stats


def value_of(rng, name, current):
    if name in ("npp_diff", "rss_diff") and rng.random() < 0.4:
        return None
    if name == "npp_diff":
        return rng.choice((0.5, 1e-05, 1e+20, -3.0))
    return rng.randrange(3) if name.startswith("num_") else current


def yaml_scalar(value):
    """As PyYAML writes it."""
    if value is None:
        return "null"
    if isinstance(value, float):
        text = repr(value)
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    return str(value)


def yaml_text(stats):
    lines = ["!!python/object/apply:collections.defaultdict", "args:",
             "- !!python/name:builtins.dict ''", "dictitems:" + ("" if stats else " {}")]
    for key in sorted(stats):
        lines.append(f"  {key}:" + ("" if stats[key] else " {}"))
        for name in sorted(stats[key]):
            value = yaml_scalar(stats[key][name])
            lines += ([f"    ? {name}", f"    : {value}"] if len(name) > 122
                      else [f"    {name}: {value}"])
    return "\n".join(lines) + "\n"


def stats_truth(stats):
    found, deltas = {}, []
    for values in stats.values():
        for name, value in values.items():
            if value is not None:
                found[name] = max(found.get(name, value), value)
    for key in stats:
        stem, context = key.rsplit(".", 1)
        before, after = stats.get(stem + ".start"), stats.get(stem + ".end")
        if context != "end" or before is None:
            continue
        rank, rest = stem.split(".", 1)
        function, iteration = rest.rsplit(".", 1)
        deltas.append({"rank": int(rank), "function": function, "iteration": int(iteration),
                       "change": {n: after[n] - before[n] for n in sorted(after)
                                  if after[n] is not None and before[n] is not None}})
    deltas.sort(key=lambda d: (d["rank"], d["function"], d["iteration"]))
    return {"snapshot_count": len(stats), "value_count": sum(map(len, stats.values())),
            "ranks": sorted({int(key.split(".", 1)[0]) for key in stats}),
            "largest": dict(sorted(found.items())), "changes": deltas}


def write_stats(folder, seed):
    stats = make_stats(seed)
    made, truth = collections.defaultdict(dict, stats), stats_truth(stats)
    yield folder / "rank_0_memory_stats.yaml", yaml_text(stats).encode(), truth
    for protocol in (2, 4):
        yield (folder / f"rank_0_memory_stats.{protocol}.pickle", pickle.dumps(made, protocol),
               truth)


# ---- memory trackers' tables ----------------------------------------------------------------

# Since Python 3.11 the members' names are printed instead of their texts.
REFERENCE_TYPES = {"Sharded Param": "SHARDED_PARAM", "Unsharded Param": "UNSHARDED_PARAM",
                   "Sharded Grad": "SHARDED_GRAD", "Activation": "ACT", "OptState": "OPT"}
MODULE_STATES = {"Before Pre-Forward": "BEF_PRE_FW", "After Post-Forward": "AFT_POST_FW",
                 "Pre-Forward AC": "PRE_FW_AC", "Peak-Backward": "PEAK_BW"}


def make_tracked(seed):
    rng = random.Random(seed)

    def snapshot():
        made = {}
        for device in ("cuda:0", "cpu")[:rng.choice((1, 2))]:
            values = {name: rng.choice((0, rng.randrange(1 << 33))) for name in REFERENCE_TYPES}
            made[device] = {**values, "Total": sum(values.values())}
        return made
    modules = [(module, state, call + 1, snapshot()) for module in ("Model", "Model.layers.0")
               for state in MODULE_STATES for call in range(rng.choice((1, 2)))]
    return {"iteration": rng.randrange(9), "function": "training_step", "peak": snapshot(),
            "modules": modules, "is_new": rng.random() < 0.5}


def type_name(name, is_new):
    return f"_FSDPRefType.{REFERENCE_TYPES[name]}" if is_new and name != "Total" else name


def state_name(name, is_new):
    return f"_FSDPModState.{MODULE_STATES[name]}" if is_new else name


def cells_of(values, unit):
    return [f"{v if unit == 'B' else round(v / 2**20, 2)} {unit}" for v in values.values()]


def is_shown(values, unit):
    return (values["Total"] if unit == "B" else round(values["Total"] / 2**20, 2)) > 0


def plain_block(snapshot, unit, is_new):
    for device, values in snapshot.items():
        if is_shown(values, unit):
            yield f"Device: {device}"
            for name, cell in zip(values, cells_of(values, unit)):
                yield f"\t{type_name(name, is_new)}: {cell}"


def table(header, rows):
    """As tabulate's "rst", which writes ".." for nothing in the first column."""
    rows = [[row[0] or "..", *row[1:]] for row in rows]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells):
        return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()
    rule = "  ".join("=" * width for width in widths)
    return [rule, line(header), rule, *map(line, rows), rule]


def tracked_log(tracked, is_tabular):
    head = f"Iteration {tracked['iteration']} {tracked['function']} "
    bar, is_new = "-" * 80, tracked["is_new"]
    names = [type_name(name, is_new) for name in (*REFERENCE_TYPES, "Total")]
    lines = [head + "Peak FSDP memory stats: ", bar]
    if is_tabular:
        lines += table(["Device", *names], [[device, *cells_of(values, "B")] for device, values
                                            in tracked["peak"].items() if is_shown(values, "B")])
    else:
        lines += plain_block(tracked["peak"], "B", is_new)
    lines += [bar, head + "Modulewise FSDP memory stats: ", bar]
    for module in dict.fromkeys(row[0] for row in tracked["modules"]):
        lines.append(f"Module:  {module}")
        calls = [row[1:] for row in tracked["modules"] if row[0] == module]
        if is_tabular:
            lines += table(["State & Call", "Device", *names], list(call_rows(calls, is_new)))
        else:
            lines += plain_calls(calls, is_new)
    return "\n".join([*lines, bar]) + "\n"


def call_rows(calls, is_new):
    """The cells of a table; a state and call is named where it is another than above."""
    above = None
    for state, call, snapshot in calls:
        text = f"{state_name(state, is_new)} # {call}"
        for device, values in snapshot.items():
            if is_shown(values, "MiB"):
                yield ["" if text == above else text, device, *cells_of(values, "MiB")]
                above = text


def plain_calls(calls, is_new):
    above = None
    for state, call, snapshot in calls:
        if state != above:
            yield state_name(state, is_new)
        above = state
        yield f"# {call}:"
        yield from plain_block(snapshot, "MiB", is_new)
    yield ""


def shown_bytes(values, unit):
    """What the file says: rounded to a hundredth of a MiB."""
    return {("optstate" if n == "OptState" else n.lower()):
            v if unit == "B" else round(round(v / 2**20, 2) * 2**20) for n, v in values.items()}


def tracked_truth(tracked):
    return {"iteration": tracked["iteration"], "function": tracked["function"],
            "peak": {device: shown_bytes(values, "B") for device, values in tracked["peak"].items()
                     if is_shown(values, "B")},
            "modules": [{"module": module, "state": state, "call": call, "device": device,
                         "bytes": shown_bytes(values, "MiB")}
                        for module, state, call, snapshot in tracked["modules"]
                        for device, values in snapshot.items() if is_shown(values, "MiB")]}


def write_tracked(folder, seed):
    tracked = make_tracked(seed)
    for name, is_tabular in (("plain", False), ("tables", True)):
        yield (folder / f"fsdp_mem_rank_0_{name}_{tracked['iteration']}.log",
               tracked_log(tracked, is_tabular).encode(), tracked_truth(tracked))


def make(folder, seed):
    """Yields (path, bytes, truth)."""
    folder = pathlib.Path(folder)
    for writer in (write_timelines, write_stats, write_tracked):
        yield from writer(folder, seed)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path, data, truth in make(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        path.write_bytes(data)
        path.with_name(path.name + ".truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
