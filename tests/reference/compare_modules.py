#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `tscope trace` on random traces of training with modules (make_modules.py) and compares its
figures by module and by function with what is true, all of them to the ns; sums included.

usage: compare_modules.py TSCOPE [ROUNDS [FIRST_SEED]]
"""
import bisect
import collections
import json
import re
import subprocess
import sys

import make_modules
import seeds

SUMS = ("forward_ns", "backward_ns", "comm_ns", "copy_ns", "kernel_count", "launch_count",
        "sync_count", "sync_ns", "call_count", "repeated_count", "flops", "host_ns")
NAMES = ("frames", "TorchScript", "kernel annotations", "FSDP", "annotations")


def cls(name):
    return re.sub(r"_\d+$", "", name)


def tree_of(order):
    """Children of each path, in order."""
    children = collections.defaultdict(list)
    for path in order:
        for end in range(1, len(path) + 1):
            if path[:end] not in children[path[:end - 1]]:
                children[path[:end - 1]].append(path[:end])
    return children


def labels_of(children, units):
    """The path of classes of each path of modules, repeated layers as one."""
    def is_layer(path):
        return children[path] or path in units

    def kind_of(path):
        name = path[-1]
        if not name.startswith("."):
            return cls(name)
        return "*" if is_layer(path) and name[1:].isdigit() else name[1:]

    def shape(path):
        return (kind_of(path), tuple(shape(child) for child in children[path]))

    labels, pending = {(): ""}, [()]
    variants = collections.defaultdict(list)  # repeated shapes by (label of the parent, class)
    repeated = set()
    for path in pending:  # by level; siblings in their order
        pending.extend(children[path])
        siblings = children[path]
        for child in siblings:
            kind = kind_of(child)
            alike = [s for s in siblings if is_layer(s) and shape(s) == shape(child)]
            same = [s for s in siblings if kind_of(s) == kind]
            label = kind
            if is_layer(child) and len(alike) > 1:
                known = variants[labels[path], kind]
                if shape(child) not in known:
                    known.append(shape(child))
                number = known.index(shape(child))
                label += (".*" if kind != "*" else "") + (f"({number + 1})" if number else "")
                repeated.add(child)
            elif kind == "*":
                label = child[-1][1:]
            elif len(same) > 1:
                label += f"[{same.index(child)}]"
            labels[child] = f"{labels[path]}.{label}" if path else label
    return labels, repeated


def windows_of(writer, facts):
    """Of the steps that count, which others check: start and end."""
    steps = facts["steps"]["list"]
    counted = [step for step in steps if not step["mark"]] or steps
    first = writer.steps[0] - steps[0]["start_ns"]
    assert [step["start_ns"] + first for step in steps] == writer.steps
    return [(step["start_ns"] + first, step["start_ns"] + first + step["wall_ns"])
            for step in counted]


def host_time(writer, windows, field):
    """Of the threads that are somewhere: time by place, and all of it."""
    times, total = collections.Counter(), 0
    for thread in {id(t): t for t in (writer.main, writer.autograd)}.values():
        if not any(entry[1 + field] for entry in thread.log):
            continue
        points = thread.log + [(2 ** 62, *thread.log[-1][1:])]
        for start, end in windows:
            total += end - start
            for now, after in zip(points, points[1:]):
                overlap = min(end, after[0]) - max(start, now[0])
                if overlap > 0:
                    times[now[1 + field] or (() if field == 0 else "")] += overlap
    return times, total


def own_sums(writer, windows, field):
    sums = collections.defaultdict(collections.Counter)
    for at, path, source, _, what in writer.facts:
        if any(start <= at < end for start, end in windows):
            sums[path if field == 0 else source or ""].update(what)
    times, total = host_time(writer, windows, field)
    for place, ns in times.items():
        sums[place]["host_ns"] = ns
    return sums, total


def add_peak(writer, windows, field, sums):
    """The bytes of each place in blocks that live at the peak; all, and what was there before."""
    totals = [(at, total) for at, total, *_ in writer.memory_log]
    in_force = [(-total, at) for (at, total), after in
                zip(totals, [*(at for at, _ in totals[1:]), 2 ** 62])
                for start, end in windows if at < end and after > start]
    if not in_force:
        return None, None
    peak, live = min(in_force), {}
    for at, _, path, source, address, grown in writer.memory_log:
        if at > peak[1]:
            break
        live.pop(address, None)
        if grown > 0:
            live[address] = (path if field == 0 else source or "", grown)
    for place, grown in live.values():
        sums[place]["peak_bytes"] += grown
    return -peak[0], -peak[0] - sum(grown for _, grown in live.values())


def device_ns(sums):
    return sums["forward_ns"] + sums["backward_ns"]


def median(values):
    values, count = sorted(values), len(values)
    low, high = values[(count - 1) // 2], values[count // 2]
    return low + (high - low + 1) // 2


def truth_of(writer, facts):
    windows = windows_of(writer, facts)
    own, host_ns = own_sums(writer, windows, 0)
    peak = add_peak(writer, windows, 0, own)
    children = tree_of(writer.order + writer.kernel_order)
    labels, repeated = labels_of(children, writer.units)
    timed = {path for _, path, _, _, what in writer.facts if "call_count" in what}
    whole = {}
    for path in sorted(labels, key=len, reverse=True):
        whole[path] = own[path].copy()
        for child in children[path]:
            whole[path].update(whole[child])
    rows, total = {}, device_ns(whole[()])
    for path, label in labels.items():
        row = rows.setdefault(label or make_modules.OUTSIDE,
                              {"own": collections.Counter(), "whole": collections.Counter(),
                               "modules": 0, "is_timed": path in timed})
        row["own"].update(own[path])
        row["whole"].update(whole[path] if path else own[path])
        row["modules"] += 1
    return {"rows": rows, "device_ns": total, "host_ns": host_ns, "peak": peak, "own": own, "whole": whole,
            "labels": labels, "repeated": repeated, "count": len(labels) - 1,
            "odd": odd_layers(labels, repeated, own, whole, total)}


def shown(path):
    """The layer as the trace calls it; where modules have names, from the root on."""
    names = [path[-1].removeprefix(".")]
    for around, name in zip(path[-2::-1], path[:0:-1]):
        if not name.startswith("."):
            break
        names.insert(0, around.removeprefix("."))
    return ".".join(names)


def odd_layers(labels, repeated, own, whole, total):
    likes = collections.defaultdict(list)
    for path, label in labels.items():
        likes[label].append(path)
    odd = []
    for path in repeated:
        times = [device_ns(whole[p]) for p in likes[labels[path]]]
        time, middle = device_ns(whole[path]), median(times)
        if (len(times) < 4 or time <= middle or time < 1.3 * middle or
                time - middle < 0.01 * total):
            continue
        excess = [device_ns(own[p]) - median([device_ns(own[q]) for q in likes[labels[p]]])
                  for p in labels if p[:len(path)] == path]
        odd.append((shown(path), labels[path], time, middle, len(times), max(excess)))
    return sorted(odd, key=str)


def compare_module(name, row, truth, has_memory):
    own, whole = truth["own"], truth["whole"]
    expected = {"self_host_ns": own["host_ns"], "host_ns": whole["host_ns"],
                "self_device_ns": device_ns(own), "device_ns": device_ns(whole)}
    expected.update((key, whole[key]) for key in
                    ("forward_ns", "backward_ns", "comm_ns", "copy_ns", "kernel_count",
                     "launch_count", "sync_ns"))
    if whole["flops"]:
        expected["flops"] = whole["flops"]
    for key in ("allocated_bytes", "allocation_count"):
        expected[key] = whole[key] if has_memory else None
    expected["self_allocated_bytes"] = own["allocated_bytes"] if has_memory else None
    for key, sums in (("peak_bytes", whole), ("self_peak_bytes", own)):
        expected[key] = sums["peak_bytes"] if has_memory else None
    if name != make_modules.OUTSIDE:
        expected["module_count"] = truth["modules"]
        expected["call_count"] = own["call_count"] if truth["is_timed"] else None
        expected["repeated_count"] = own["repeated_count"] if truth["is_timed"] else None
    for key, value in expected.items():
        if row.get(key) != value:
            yield f"{name}: {key} {row.get(key)}, in truth {value}"


def compare_modules(facts, truth, writer):
    said = ", ".join(name for name in NAMES if name in writer.seen_sources) or None
    if facts["source"] != said:
        yield f"modules are said by {facts['source']}, in truth by {said}"
    if not truth["count"]:
        if facts["by_module"]:
            yield f"modules where there are none: {facts['by_module']}"
        return
    table = {row["name"]: row for row in facts["by_module"]}
    if set(table) != set(truth["rows"]):
        yield f"modules {sorted(set(table) ^ set(truth['rows']))}"
        return
    for name, row in table.items():
        yield from compare_module(name, row, truth["rows"][name], writer.has_memory)
    for fact, column in (("device_ns", "self_device_ns"), ("host_ns", "self_host_ns")):
        total = sum(row[column] for row in table.values())
        if not facts[fact] == total == truth[fact]:
            yield f"{fact} {facts[fact]}, of rows {total}, in truth {truth[fact]}"
    peak = (facts["peak_bytes"], facts["peak_unrecorded_bytes"])
    if peak != truth["peak"]:
        yield f"peak of memory and what was there before {peak}, in truth {truth['peak']}"
    if writer.has_memory:
        total = peak[1] + sum(row["self_peak_bytes"] for row in table.values())
        if total != peak[0]:
            yield f"peak of memory {peak[0]}, of rows {total}"
    if facts["module_count"] != truth["count"]:
        yield f"{facts['module_count']} modules, in truth {truth['count']}"
    odd = sorted(((row["layer"], row["name"], row["ns"], row["median_ns"], row["module_count"],
                   row["because_ns"] or 0) for row in facts["odd_layers"]), key=str)
    if odd != truth["odd"]:
        yield f"odd layers {odd}, in truth {truth['odd']}"


def compare_sources(facts, writer, windows):
    sums, host_ns = own_sums(writer, windows, 1)
    add_peak(writer, windows, 1, sums)
    table = {row["name"]: row for row in facts["by_function"]}
    for source, truth in sums.items():
        row = table.get(source or make_modules.NOBODY, {})
        expected = {"host_ns": truth["host_ns"], "device_ns": device_ns(truth)}
        expected.update((key, truth[key]) for key in
                        ("forward_ns", "backward_ns", "comm_ns", "copy_ns", "kernel_count",
                         "launch_count", "sync_count", "sync_ns"))
        for key in ("allocated_bytes", "allocation_count", "peak_bytes"):
            expected[key] = truth[key] if writer.has_memory else None
        for key, value in expected.items():
            if row.get(key) != value:
                yield f"{source}: {key} {row.get(key)}, in truth {value}"
    for fact in ("device_ns", "host_ns"):
        total = sum(row[fact] for row in table.values())
        if facts[fact] != total:
            yield f"sources {fact} {facts[fact]}, of rows {total}"
    if facts["host_ns"] != host_ns:
        yield f"sources host_ns {facts['host_ns']}, in truth {host_ns}"


KINDS = {"cudaLaunchKernel": "launch", "cuLaunchKernel": "launch", "cudaGraphLaunch": "graph_launch",
         "cudaMemcpyAsync": "memcpy", "cudaStreamSynchronize": "sync"}


def self_times(events):
    """Operators of a thread with the time that is not in those within them."""
    rows, stack = [], []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while stack and stack[-1][1] <= event["ts"]:
            stack.pop()
        end = min([event["ts"] + event["dur"], *(row[1] for row in stack)])
        if stack:
            stack[-1][2] -= end - event["ts"]
        stack.append([event, end, end - event["ts"]])
        rows.append(stack[-1])
    return [(event, end, ns) for event, end, ns in rows]


def innermost(rows, at):
    """The operator around a call of the thread."""
    around = [row for row in rows if row[0]["ts"] <= at < row[1]]
    return max(around, key=lambda row: row[0]["ts"])[0]["name"] if around else None


def exposed(writer, start, dur):
    """The part of a copy in which no kernel runs."""
    kernels = [(begin, begin + ns) for _, begin, ns, name, *_ in writer.launched if "Memcpy" not in name]
    covered, now = 0, start
    for begin, end in sorted(kernels):
        begin, end = max(begin, now), min(end, start + dur)
        if end > begin:
            covered, now = covered + end - begin, end
    return dur - covered


def things_called(writer, windows):
    """(kind, name, operator), path, source, and what: each call in the steps that count."""
    def counts(at):
        return any(start <= at < end for start, end in windows)

    threads = {thread.tid: thread for thread in (writer.main, writer.autograd)}
    operators = {tid: self_times([e for e in writer.events if e["tid"] == tid and e.get("cat") == "cpu_op"])
                 for tid in threads}
    starts = {tid: [entry[0] for entry in thread.log] for tid, thread in threads.items()}

    def place(tid, at):
        return threads[tid].log[bisect.bisect_right(starts[tid], at) - 1][1:3]

    for tid, rows in operators.items():
        for event, _, ns in rows:
            if counts(event["ts"]):
                yield ("operator", event["name"], None), *place(tid, event["ts"]), (1, ns, 0, 0)
    for event in writer.events:
        if event.get("cat") != "cuda_runtime" or not counts(event["ts"]):
            continue
        kind = KINDS[event["name"]]
        op = innermost(operators[event["tid"]], event["ts"]) if kind in ("memcpy", "sync") else None
        yield (kind, event["name"], op), *place(event["tid"], event["ts"]), (1, event["dur"], 0, 0)
    for launch, start, dur, name, tid, path, source in writer.launched:
        if not counts(launch):
            continue
        op = innermost(operators[tid], launch) if tid else None
        if op:
            yield ("operator", op, None), path, source, (0, 0, dur, 0)
        if "Memcpy" in name:
            yield ("copy", name, None), path, source, (1, 0, dur, exposed(writer, start, dur))


def main_module(parts, labels):
    """The innermost module that has more than half of what is in these paths."""
    shares, depths = collections.Counter(), {}
    for path, ns in parts.items():
        for end in range(1, len(path) + 1):
            shares[labels[path[:end]]] += ns
            depths[labels[path[:end]]] = end
    halves = [label for label, ns in shares.items() if 2 * ns > sum(parts.values())]
    return max(halves, key=depths.get, default=None)


def compare_callers(facts, truth, writer, windows):
    def by_source():
        return collections.defaultdict(collections.Counter)

    sums = collections.defaultdict(lambda: collections.defaultdict(by_source))
    for thing, path, source, (count, host, device, bare) in things_called(writer, windows):
        sums[thing][source or None][path].update(count=count, host=host, device=device, bare=bare)
    expected = []
    for thing, sources in sums.items():
        def total(part, key):
            return sum(sums[key] for sums in part.values())
        by = "device" if any(total(part, "device") for part in sources.values()) else "host"
        all_ns = sum(total(part, by) for part in sources.values())
        for source, part in sources.items():
            ns = total(part, by)
            module = main_module({path: row[by] for path, row in part.items()}, truth["labels"])
            if ns and ns >= all_ns // 10:
                expected.append((*thing, source, module, total(part, "count") or None, ns, by,
                                 total(part, "bare") if thing[0] == "copy" else None))
    found = [tuple(row[key] for key in ("kind", "name", "op", "source", "module", "count", "ns",
                                        "time_of", "exposed_ns")) for row in facts["callers"]]
    for row in sorted({*found} ^ {*expected}, key=str):
        yield f"callers: {row} in {'truth' if row in expected else 'tscope'} alone"


def compare_under(program, path, truth, rng):
    """Time in a module that is asked for, by module: the rows of it and of those in it."""
    names = [label for label in truth["labels"].values() if "." in label]
    if not names:
        return
    name = rng.choice(names)
    done = subprocess.run([program, "trace", "--format", "json", "--full", "--by", "module", "--under",
                           name, path], capture_output=True, check=True, timeout=60)
    facts = json.loads(done.stdout)["runs"][0]["facts"]["attribution"]
    labels, expected = truth["labels"], collections.defaultdict(lambda: [0, 0])
    for place, label in labels.items():
        if any(labels[place[:end]] == name for end in range(1, len(place) + 1)):
            expected[label][0] += device_ns(truth["own"][place])
            expected[label][1] += truth["own"][place]["host_ns"]
    rows = {row["name"]: [row["device_ns"], row["host_ns"]] for row in facts["rows"]}
    expected = {label: times for label, times in expected.items() if any(times)}
    if {label: times for label, times in rows.items() if any(times)} != expected:
        yield f"in {name}: {rows}, in truth {expected}"
    if facts["under_ns"] != sum(row[0] for row in rows.values()):
        yield f"in {name}: {facts['under_ns']} in all, rows {rows}"


def check(program, seed, folder):
    text, writer = make_modules.random_trace(seed)
    folder = folder / "step_14"
    folder.mkdir(exist_ok=True)
    path = folder / "trace.json"
    path.write_text(text)
    for old in [*folder.glob("kernel_*"), *folder.parent.glob("kernel_*")]:
        old.unlink()
    if writer.annotations:
        make_modules.write_annotations(writer, folder)
    done = subprocess.run([program, "trace", "--format", "json", "--full", path], capture_output=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.decode()}"]
    facts = json.loads(done.stdout)["runs"][0]["facts"]
    truth = truth_of(writer, facts)
    return [*compare_modules(facts["modules"], truth, writer),
            *compare_under(program, path, truth, writer.rng),
            *compare_sources(facts["sources"], writer, windows_of(writer, facts)),
            *compare_callers(facts["sources"], truth, writer, windows_of(writer, facts))]


if __name__ == "__main__":
    sys.exit(seeds.main(check, 300))
