#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tscope memory against the plain readers of snapshot.py and memory_files.py: on files that are
made by the seed, or on files that are given.

usage: compare_memory.py TSCOPE [ROUNDS [FIRST_SEED]]
       compare_memory.py TSCOPE --files FILE...
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import check_snapshot
import make_memory_files
import make_snapshot
import memory_files
import seeds
import snapshot
import snapshot_writers

SUMMED = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
TOTALS = ("segment_count", "block_count", "reserved_bytes", "allocated_bytes", "pending_bytes",
          "active_bytes", "requested_bytes", "rounding_bytes", "inactive_bytes",
          "inactive_split_bytes", "free_segment_bytes", "inactive_expandable_bytes",
          "largest_free_bytes")
COUNTS = ("allocated_count", "pending_count", "inactive_count")


def to_ns(time_us):
    return None if time_us is None else time_us * 1000


class NotBuiltIn(Exception):
    """What a file needs, a codec or a library, this build of the program lacks."""


class Program:
    """The program under test."""

    def __init__(self, path):
        self.path = path

    def facts(self, path, *options):
        done = subprocess.run([self.path, "memory", "--format", "json", "--full", *options, path],
                              check=False, capture_output=True)
        if done.returncode != 0 and b": this build " in done.stderr:
            raise NotBuiltIn
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode()}")
        return json.loads(done.stdout)["runs"][0]["facts"]

    def stacks(self, path, moment):
        """Stack → bytes, as written for flame graphs."""
        with tempfile.NamedTemporaryFile() as out:
            subprocess.run([self.path, "memory", "--quiet", "--flamegraph", out.name,
                            "--flamegraph-at", moment, path], check=True, capture_output=True)
            lines = pathlib.Path(out.name).read_bytes().decode("utf-8", "replace").splitlines()
        return {stack: int(size) for stack, size in (line.rsplit(" ", 1) for line in lines)}


# ---- snapshots ------------------------------------------------------------------------------


def expected_facts(found):
    totals, devices = found["totals"], found["devices"]
    facts = {name: totals[name] for name in TOTALS}
    facts["trace_entry_count"] = found["entry_count"]
    facts["device_count"] = len(devices)
    ratios = [1 - one["largest_free_bytes"] / one["inactive_bytes"]
              for one in found["by_device"].values() if one["inactive_bytes"]]
    if ratios:  # the worst device's
        facts["fragmentation_ratio"] = max(ratios)
    if not devices:
        return facts
    peak = max(devices, key=lambda n: (devices[n]["timeline"]["active"]["peak_bytes"], -int(n)))
    device = devices[peak]
    curve = device["timeline"]["active"]
    facts.update(peak_allocated_bytes=curve["peak_bytes"], peak_device=int(peak),
                 peak_index=curve["peak_index"], peak_time_ns=to_ns(curve["peak_time_us"]),
                 peak_reserved_bytes=device["timeline"]["reserved"]["peak_bytes"],
                 live_at_peak_count=device["live_at_peak"]["count"])
    if found["entry_count"]:
        churns = [one["churn"] for one in devices.values()]
        grown, released = SUMMED
        facts.update(
            never_freed_bytes=sum(one["never_freed"]["bytes"] for one in devices.values()),
            never_freed_count=sum(one["never_freed"]["count"] for one in devices.values()),
            alloc_count=found["actions"].get("alloc", 0),
            segment_alloc_count=sum(c[a + "_count"] for c in churns for a in grown),
            segment_alloc_bytes=sum(c[a + "_bytes"] for c in churns for a in grown),
            segment_free_count=sum(c[a + "_count"] for c in churns for a in released),
            segment_free_bytes=sum(c[a + "_bytes"] for c in churns for a in released),
            retry_count=sum(c["retry_count"] for c in churns),
            oom_count=found["actions"].get("oom", 0))
    return facts


def expected_sites(number, device):
    """device, site → what is known of it."""
    rows = {}

    def row(site):
        return rows.setdefault((int(number), site), dict.fromkeys((
            "bytes", "count", "end_bytes", "end_count", "never_freed_bytes", "never_freed_count",
            "alloc_bytes", "alloc_count", "freed_count"), 0))

    for one in device["live_at_peak"]["sites"]:
        row(one["site"]).update(bytes=one["bytes"], count=one["count"])
    for one in device["live_at_end"]["sites"]:
        row(one["site"]).update(end_bytes=one["bytes"], end_count=one["count"])
    for one in device["never_freed"]["sites"]:
        row(one["site"]).update(never_freed_bytes=one["bytes"], never_freed_count=one["count"])
    for one in device["lifetimes"]:
        row(one["site"]).update(
            alloc_bytes=one["bytes"], alloc_count=one["count"], freed_count=one["freed_count"],
            lifetime_ns=to_ns(one["lifetime_us"]), longest_ns=to_ns(one["longest_us"]),
            lifetime_entries=one["lifetime_entries"], longest_entries=one["longest_entries"])
    # Of blocks that were never freed there is no life to tell of.
    return rows


def oom_row(number, one):
    names = {"size": "size_bytes", "device_free": "device_free_bytes",
             "would_fit_unfragmented": "fits_unfragmented"}
    row = {names.get(name, name): value for name, value in one.items() if name != "time_us"}
    return {"device": int(number), "time_ns": to_ns(one["time_us"]), **row}


def last_oom_device(found):
    """Of the request that failed last; None where none did."""
    last = [(device["ooms"][-1]["time_us"] or 0, int(number), number)
            for number, device in found["devices"].items() if device["ooms"]]
    return max(last)[2] if last else None


def expected_tables(found):
    """Table → {key: row}."""
    tables = {name: {key: {n: row[n] for n in TOTALS + COUNTS} for key, row in found[name].items()}
              for name in snapshot.GROUPS}
    tables["segments"] = {
        (one["device"], f"0x{one['address']:x}"): {
            n: one[n] for n in ("reserved_bytes", "allocated_bytes", "pending_bytes", "active_bytes",
                                "requested_bytes", "inactive_bytes", "largest_free_bytes",
                                "block_count")}
        for one in found["segments"]}
    tables.update(actions={}, curves={}, sites={}, by_role={}, oom_by_role={}, ooms={})
    for number, device in found["devices"].items():
        for action, count in device["actions"].items():
            tables["actions"][int(number), action] = {"count": count}
        for curve, one in device["timeline"].items():
            tables["curves"][int(number), curve] = {
                "start_bytes": one["start_bytes"], "end_bytes": one["end_bytes"],
                "peak_bytes": one["peak_bytes"], "peak_index": one["peak_index"],
                "peak_time_ns": to_ns(one["peak_time_us"])}
        tables["sites"].update(expected_sites(number, device))
        for role, one in device["by_role"].items():
            tables["by_role"][int(number), role] = one
        for one in device["ooms"]:
            tables["ooms"][int(number), one["index"]] = oom_row(number, one)
    number = last_oom_device(found)
    for role, one in found["devices"][number]["oom_by_role"].items() if number else ():
        tables["oom_by_role"][int(number), role] = one
    return tables


KEYS = {"by_device": ("device",), "by_pool": ("pool",), "by_stream": ("stream",),
        "by_pool_id": ("pool_id",), "by_kind": ("kind",), "segments": ("device", "address"),
        "actions": ("device", "action"), "curves": ("device", "curve"),
        "sites": ("device", "site"), "by_role": ("device", "role"),
        "oom_by_role": ("device", "role"), "ooms": ("device", "index")}


def keyed(rows, names):
    """Rows by their key; the key of one column stands alone."""
    return {tuple(row[n] for n in names) if len(names) > 1 else str(row[names[0]]): row
            for row in rows}


def is_near(expected, found):
    if isinstance(expected, float) and found is not None:
        return abs(expected - found) <= 1e-9 * max(1, abs(expected))
    return expected == found


def row_differences(place, expected, found):
    for name, value in expected.items():
        if not is_near(value, found.get(name)):
            yield f"{place}.{name}", value, found.get(name)


def table_differences(name, expected, found):
    if expected.keys() != found.keys():
        keys = sorted(map(str, expected.keys() ^ found.keys()))
        yield f"{name}: rows", len(expected), f"{len(found)}, such as {keys[0]}"
    for key in expected.keys() & found.keys():
        yield from row_differences(f"{name}[{key}]", expected[key], found[key])


def snapshot_differences(found, facts):
    """found: the figures of snapshot.py."""
    yield from row_differences("snapshot", expected_facts(found), facts)
    for name, rows in expected_tables(found).items():
        yield from table_differences(f"snapshot.{name}", rows, keyed(facts[name], KEYS[name]))


def stack_differences(program, path, found):
    """What flame graphs are made of, of the device with the highest peak."""
    devices = found["devices"]
    if not devices:
        return
    peak = expected_facts(found)["peak_device"]
    for moment in ("peak", "end"):
        expected = devices[str(peak)]["live_at_" + moment]["stacks"]
        expected = {stack or "(no stack)": size for stack, size in expected.items() if size}
        stacks = {k: v for k, v in program.stacks(path, moment).items() if v}
        if expected != stacks:
            keys = [k for k in expected.keys() | stacks.keys() if expected.get(k) != stacks.get(k)]
            yield f"stacks at {moment} of {keys[0]}", expected.get(keys[0]), stacks.get(keys[0])


# ---- the other files ------------------------------------------------------------------------


def timeline_differences(found, facts):
    scale = 1000 if found["unit"] == "us" else 1
    yield from row_differences("memory_timeline", {
        "point_count": found["count"], "start_time_ns": found["start_time"] * scale,
        "end_time_ns": found["end_time"] * scale, "peak_bytes": found["peak_bytes"],
        "peak_index": found["peak_index"], "peak_time_ns": found["peak_time"] * scale,
        "end_bytes": found["end_bytes"],
        **{name: found.get(name) for name in (
            "row_count", "preexisting_bytes", "preexisting_count", "created_count",
            "destroyed_count", "changed_count")}}, facts)
    expected = {name: {"peak_bytes": found["peak_by_category"][name],
                       "end_bytes": found["end_by_category"][name],
                       "own_peak_bytes": found["category_peaks"][name]}
                for name in memory_files.CATEGORIES}
    yield from table_differences("memory_timeline.by_category", expected,
                                 keyed(facts["by_category"], ("category",)))


def stats_differences(found, facts):
    yield from row_differences("memory_stats", {
        "moment_count": found["snapshot_count"], "value_count": found["value_count"],
        "rank_count": len(found["ranks"]), "call_count": len(found["changes"])}, facts)
    yield from table_differences(
        "memory_stats.largest", {name: {"value": value} for name, value in found["largest"].items()},
        keyed(facts["largest"], ("name",)))
    expected = {(one["rank"], one["function"], one["iteration"], name): {"change": change}
                for one in found["changes"] for name, change in one["change"].items()}
    yield from table_differences("memory_stats.changes", expected, keyed(
        facts["changes"], ("rank", "function", "iteration", "name")))


def tracker_differences(found, facts):
    yield from row_differences("memory_tracker", {
        "function": found["function"], "iteration": found["iteration"]}, facts)
    expected = {(device, kind): {"bytes": size} for device, kinds in found["peak"].items()
                for kind, size in kinds.items() if kind != "total"}
    yield from table_differences("memory_tracker.peak", expected,
                                 keyed(facts["peak"], ("device", "kind")))
    expected = {(one["module"], one["state"], one["call"], one["device"]): {
        "total_bytes": one["bytes"]["total"]} for one in found["modules"] if "total" in one["bytes"]}
    yield from table_differences("memory_tracker.modules", expected, keyed(
        facts["modules"], ("module", "state", "call", "device")))


# ---- files ----------------------------------------------------------------------------------


def file_differences(program, path):
    """What differs for any file about memory."""
    facts = program.facts(path)
    if "snapshot" in facts:
        found = snapshot.figures(snapshot.load(path))
        yield from snapshot_differences(found, facts["snapshot"])
        yield from stack_differences(program, path, found)
    elif "memory_timeline" in facts:
        yield from timeline_differences(memory_files.figures(path), facts["memory_timeline"])
    elif "memory_stats" in facts:
        yield from stats_differences(memory_files.figures(path), facts["memory_stats"])
    else:
        yield from tracker_differences(memory_files.figures(path), facts["memory_tracker"])


def made_by(seed, folder):
    """Yields the paths of the files of a seed."""
    plan, max_entries, era, protocol, is_json = check_snapshot.random_case(seed)
    run = make_snapshot.Run(make_snapshot.usable_plan(plan, era),
                            make_snapshot.training_program.Job(
                                make_snapshot.usable_plan(plan, era)).operations())
    path = pathlib.Path(folder) / ("s.json" if is_json else "s.pickle")
    data = snapshot_writers.Builder(run, era, max_entries).build()
    snapshot_writers.write(data, path, era == "cpp", protocol, is_json)
    yield path
    for other, data, _ in make_memory_files.make(folder, seed):
        pathlib.Path(other).write_bytes(data)
        yield pathlib.Path(other)


def compare(program, paths):
    """What differs; that none of them was compared is a difference, too."""
    count = 0
    for path in paths:
        try:
            found = list(file_differences(program, path))
        except NotBuiltIn:
            continue
        except RuntimeError as error:
            found = [("the report", "one", error)]
        for place, expected, actual in found:
            yield f"{path.name}: {place}: expected {expected}, tscope says {actual}"
        count += 1
    if count == 0:
        yield "nothing was compared"


def main(program, *arguments):
    program = Program(program)
    if arguments[:1] == ("--files",):
        return 1 if seeds.show("files", compare(program, map(pathlib.Path, arguments[1:]))) else 0
    return seeds.run(lambda seed, folder: compare(program, made_by(seed, folder)), arguments, 50)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
