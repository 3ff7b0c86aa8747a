#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of traces that others compared and published: the operators and kernels that tscope diff
calls different, their counts and their times against the published ones.

usage: check_diff.py TSCOPE [--all]    --all: print what agrees as well

Where definitions differ:

- HTA compares one iteration of each trace by what lies in it, and counts annotations and runtime calls as
  operators, too (these are in published_hta.py). tscope's operators are the file's cpu_op.
- TraceLens lists the operators that launched device work themselves, with the number of calls that did;
  tscope's have all operators and all calls. Its times are doubles, see published_tracelens.py.
- TraceLens counts the kernels of the file. One without a launch that started before the first
  step is of no step to tscope: these are left out here.
- TraceLens matches kernels by their names alone; those of other names are on one side only. tscope
  then asks for the same work and the same operator, so its rows may have two names. Both sides' names,
  counts and times must be there all the same.
"""
import collections
import gzip
import json
import pathlib
import re
import sys
import tempfile

import program
import published_hta
import published_tracelens
import traces

QWEN = "Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
COMPARED = published_tracelens.TRACES / "compare_test_e2e/reference/compare_h100_mi300_qwen_csvs"
SIDES = (("a", "h100"), ("b", "mi300"))
KINETO = program.DATA / "pytorch+kineto"
HTA = program.DATA / "facebookresearch+HolisticTraceAnalysis"
SAMPLES = "tb_plugin/samples/resnet50_num_workers_"
US, MS = 1000, 1000000
# A time of today in µs, as a double: a sum of n durations may be off by n times this.
DOUBLE_NS = 250


def compare(tscope, a, b, *arguments):
    """The facts of a comparison."""
    done = tscope.run("diff", "--format", "json", "--full", *arguments, a, b)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode().strip()}")
    return json.loads(done.stdout)["runs"][0]["facts"]


def names_of(rows, *changes):
    return {row["name"] for row in rows if row["change"] in changes}


# ---- HTA -----------------------------------------------------------------------------------


def check_hta(tscope, results):
    """test_trace_diff.py, iteration 1010; the operators of what it counts."""
    folder = published_hta.FOLDER / "trace_compare"
    rows = compare(tscope, folder / "base/base.json.gz", folder / "test/test.json.gz",
                   "--steps", "1010:1010")["operator_changes"]["list"]
    results.check("HTA trace_compare added",
                  {"AddmmBackward0", "All2All_Pooled_Req", "CatBackward0"}, names_of(rows, "new"))
    results.check("HTA trace_compare deleted, of operators", set(), names_of(rows, "gone"))
    results.check("HTA trace_compare unchanged, of operators",
                  {"aten::empty", "aten::as_strided"}, names_of(rows, "same"))
    for row in rows:
        if row["change"] == "same":
            results.check(f"HTA trace_compare {row['name']}, calls", (1, 1),
                          (row["a_calls_per_step"], row["b_calls_per_step"]))
    # HTA does not publish their times: they are the durations of the only calls in the file.
    times = {"AddmmBackward0": 207 * US, "All2All_Pooled_Req": 311 * US, "CatBackward0": 11 * US}
    for row in rows:
        if row["change"] == "new":
            results.check(f"HTA trace_compare {row['name']}, calls and ns",
                          (1, times[row["name"]]), (row["b_calls_per_step"], row["b_step_ns"]))


# ---- TraceLens -----------------------------------------------------------------------------


def check_operator_sets(results, sheet, rows):
    for side, device in SIDES:
        published = {line["name"] for line in sheet if line[device + "::Count"]}
        found = {row["name"] for row in rows if row[side + "_step_device_ns"]}
        results.check(f"TraceLens {device} operators that launch", published, found)
    both = [line for line in sheet if line["h100::Count"] and line["mi300::Count"]]
    by_name = {row["name"]: row for row in rows if row["matched_by"] == "name"}
    results.check("TraceLens operators of both", set(),
                  {line["name"] for line in both} - set(by_name))
    results.check("TraceLens operators of MI300 only", {"aten::fill_"},
                  {line["name"] for line in sheet if not line["h100::Count"]}
                  & names_of(rows, "new"))


def check_operator(results, line, row):
    name = f"TraceLens {line['name']}"
    # aten::arange calls itself, and only the inner one launches.
    reason = "calls that launch nothing, too" if line["name"] == "aten::arange" else ""
    counts = 0
    for side, device in SIDES:
        if not line[device + "::Count"]:
            continue
        count = int(float(line[device + "::Count"]))
        counts += count
        results.check(f"{name} calls on {device}", count, row[side + "_calls_per_step"], reason)
        results.near(f"{name} device ns on {device}",
                     float(line[device + "::total_direct_kernel_time_ms"]) * MS,
                     row[side + "_step_device_ns"], 20 + DOUBLE_NS * count)
    if not line["total_direct_kernel_time_ms__mi300_diff"]:
        return
    results.near(f"{name} change in ns", float(line["total_direct_kernel_time_ms__mi300_diff"]) * MS,
                 row["device_change_ns"], 20 + DOUBLE_NS * counts)
    if row["a_step_device_ns"] > 100 * US: # of shorter ones a double's rounding is some percent
        results.near(f"{name} change in %", float(line["total_direct_kernel_time_ms__mi300_pct"]),
                     100 * row["device_change_ns"] / row["a_step_device_ns"], 0.02)


def check_operators(results, rows):
    sheet = published_tracelens.read_sheet(COMPARED, "ops_summary")
    check_operator_sets(results, sheet, rows)
    by_name = {row["name"]: row for row in rows}
    for line in sheet:
        if line["name"] in by_name:
            check_operator(results, line, by_name[line["name"]])


def kernels_before_steps(path):
    """(name, ns) of kernels that no call in the file launched, and that started before any step."""
    events = [event for event in traces.read(path).events if event.get("ph") == "X"]
    launched = {event["args"].get("correlation") for event in events
                if event.get("cat") in ("cuda_runtime", "cuda_driver")}
    first = min(traces.to_ns(event["ts"]) for event in events
                if event["name"].startswith("ProfilerStep#") and event["cat"] == "user_annotation")
    return [(event["name"], traces.to_ns(event["dur"])) for event in events
            if event.get("cat") == "kernel" and traces.to_ns(event["ts"]) < first
            and event["args"].get("correlation") not in launched]


def read_kernels(device):
    """Kernel → [count, ns] of one side. The sheet has a line for each pair of both sides' lines."""
    parts = set()
    for line in published_tracelens.read_sheet(COMPARED, "kernel_summary"):
        count = line[device + "::Kernel duration (µs)_count"]
        if count:
            parts.add((line["Kernel name"], line[device + "::Parent cpu_op"],
                       line[device + "::Kernel stream"], int(float(count)),
                       round(float(line[device + "::Kernel duration (µs)_sum"]) * US)))
    kernels = collections.defaultdict(lambda: [0, 0])
    for name, _, _, count, ns in parts:
        kernels[name][0] += count
        kernels[name][1] += ns
    for name, ns in kernels_before_steps(published_tracelens.TRACES / device / QWEN):
        kernels[name][0] -= 1
        kernels[name][1] -= ns
    return kernels


def check_kernels_of_side(results, rows, side, device):
    kernels = read_kernels(device)
    results.check(f"TraceLens {device} kernels", len(kernels),
                  sum(row[side + "_names"] for row in rows))
    results.check(f"TraceLens {device} kernels, calls and ns",
                  tuple(map(sum, zip(*kernels.values()))),
                  (sum(row[side + "_calls_per_step"] for row in rows),
                   sum(row[side + "_step_ns"] for row in rows)))
    for row in rows:
        if row[side + "_names"] == 1:
            name = row["name"] if side == "b" or not row["a_name"] else row["a_name"]
            results.check(f"TraceLens {device} {name[:70]}, calls and ns",
                          tuple(kernels.get(name, ())),
                          (row[side + "_calls_per_step"], row[side + "_step_ns"]))


def check_sums(tscope, results, facts):
    """Categories have the time of the operators, modules that of all that was launched in steps."""
    operators = facts["operator_changes"]
    modules = facts["module_changes"]["list"]
    for side, device in SIDES:
        for column in (f"{side}_step_ns", f"{side}_step_device_ns"):
            results.near(f"{device} {column} of all categories",
                         sum(row[column] for row in operators["list"]),
                         sum(row[column] for row in operators["kinds"]), len(operators["list"]))
        path = published_tracelens.TRACES / device / QWEN
        done = tscope.run("trace", "--format", "json", "--full", path)
        whole = json.loads(done.stdout)["runs"][0]["facts"]
        results.near(f"{device} device ns of all modules",
                     whole["modules"]["device_ns"] / whole["steps"]["count"],
                     sum(row[f"{side}_step_device_ns"] for row in modules), len(modules))


def check_kernels(results, rows):
    for side, device in SIDES:
        check_kernels_of_side(results, rows, side, device)
    both = set(read_kernels("h100")) & set(read_kernels("mi300"))
    results.check("TraceLens kernels of both", both,
                  {row["name"] for row in rows if row["matched_by"] == "name"})
    changes = {row["launcher"].split()[0]: row["change"] for row in rows if row["launcher"]}
    for operator in ("aten::_flash_attention_forward", "aten::bmm", "aten::neg"):
        results.check(f"TraceLens the one kernel of {operator}", "replaced", changes[operator])


def check_tracelens(tscope, results):
    facts = compare(tscope, published_tracelens.TRACES / "h100" / QWEN,
                    published_tracelens.TRACES / "mi300" / QWEN)
    check_operators(results, facts["operator_changes"]["list"])
    check_kernels(results, facts["kernel_changes"]["list"])
    check_sums(tscope, results, facts)


# ---- baselines -----------------------------------------------------------------------------

MOST_BASELINE_BYTES = 200_000


def check_baseline(tscope, results, folder):
    """A real trace as eight ranks: its baseline is small, and answers as the traces do."""
    text = gzip.decompress((HTA / "tests/data/nccl_parser_config/nccl_data.json.gz").read_bytes()).decode()
    run, saved = folder / "ranks", folder / "baseline.json"
    run.mkdir()
    for rank in range(8):
        with gzip.open(run / f"rank{rank}.pt.trace.json.gz", "wt", compresslevel=1) as out:
            out.write(re.sub(r'"rank": 0, "world_size": \d+', f'"rank": {rank}, "world_size": 8',
                             text, count=1))
    saved.write_bytes(tscope.run("report", "--format", "baseline", run).stdout)
    results.check("baseline of 8 ranks: at most 200 kB", True,
                  0 < saved.stat().st_size <= MOST_BASELINE_BYTES)
    other = program.DATA / "made-torch26/ddp8-slow5"
    results.check("a comparison of it is that of its traces", True,
                  compare(tscope, run, other) == compare(tscope, saved, other))


# ---- kineto --------------------------------------------------------------------------------


def check_kineto(tscope, results):
    """A fix of the order of two rows: no operator or kernel differs."""
    facts = compare(tscope, KINETO / "@db36f7b79a/docs/traces/before_fix_trace.json",
                    KINETO / "@5b7b13c334/docs/traces/after_fix_trace.json")
    for table, published in (("operator_changes", {"op1", "op_record", "op_wait", "op_evt_sync"}),
                             ("kernel_changes", {"Kernel"})):
        rows = facts[table]["list"]
        results.check(f"kineto before and after: {table}", published, names_of(rows, "same"))
        results.check(f"kineto before and after: {table}, others", len(published), len(rows))
        for row in rows:
            results.check(f"kineto before and after: {row['name']}, calls and change", (1, 1, 0),
                          (row["a_calls_per_step"], row["b_calls_per_step"], row["change_ns"]))


# ---- what leads ----------------------------------------------------------------------------


def lines_of(facts):
    """(line, ms, certainty) of an explanation, as they stand."""
    return [(row["line"], row["change_ns"] / MS, row["certainty"])
            for row in facts["explanation"]["lines"]]


def loader_ns(path):
    """Time in the data loader of a mean step."""
    spans = [event for event in traces.read(path).events if event.get("ph") == "X"]
    steps = {event["name"] for event in spans if event["name"].startswith("ProfilerStep#")}
    return sum(traces.to_ns(event["dur"]) for event in spans
               if event["name"].startswith("enumerate(DataLoader)")) / len(steps)


def check_loader(tscope, results):
    """The same training twice: in one the loader takes 24 ms more of a step, and leads."""
    paths = [next((KINETO / version / (SAMPLES + "0")).glob("*.gz"), None)
             for version in ("@383a066433", "@769c3eb784")]
    if None in paths:
        print("kineto num_workers 0 twice: not here")
        return
    facts = compare(tscope, *paths)
    line, change_ms, certainty = lines_of(facts)[0]
    results.check("kineto num_workers 0 twice: the first line", ("data_stall", "certain"),
                  (line, certainty))
    # The loader begins before the device has finished the step before: a few percent of a ms.
    results.near("kineto num_workers 0 twice: its ms", (loader_ns(paths[1]) - loader_ns(paths[0])) / MS,
                 change_ms, 0.1)
    part = facts["explanation"]["parts"][0]
    results.check("kineto num_workers 0 twice: the first part", ("data_stall", "loader"),
                  (part["line"], part["kind"]))


def check_workers(tscope, results):
    """num_workers 0 against 4: the wait for data goes, whatever a ragged last step says."""
    paths = [next(iter(sorted(KINETO.glob(f"**/{SAMPLES}{count}/*.gz"))), None) for count in (0, 4)]
    if None in paths:
        print("kineto num_workers 0 and 4: not here")
        return
    rows = {line: (change_ms, certainty)
            for line, change_ms, certainty in lines_of(compare(tscope, *paths))}
    results.check("kineto num_workers 0 and 4: data_stall", (True, "certain"),
                  (rows["data_stall"][0] < -5, rows["data_stall"][1]))


def check_devices(tscope, results):
    """HTA's control and test: an A100 against a V100, +46.7 ms, of which compute has +44.5."""
    paths = [next((path for path in sorted(HTA.glob(f"**/*{side}*/**/*.json.gz"))), None)
             for side in ("control", "test_trace_diff")]
    if None in paths:
        print("HTA control and test: not here")
        return
    facts = compare(tscope, *paths)
    results.check("HTA control and test: the first line", "compute", lines_of(facts)[0][0])
    results.near("HTA control and test: its ms", 44.5, lines_of(facts)[0][1], 0.1)


def check_setup(tscope, results):
    """Two vendors: that comes first, and operators stand by the device time that TraceLens publishes."""
    paths = [published_tracelens.TRACES / device / QWEN for device in ("h100", "mi300")]
    text = tscope.run("diff", *paths).stdout.decode().splitlines()
    lines = [line.strip() for line in text if line.strip() and line[:2] == "  "]
    setup = next(line for line in lines if not line[0].isdigit())
    results.check("TraceLens Qwen: the first line",
                  "SETUP    these runs differ in: device H100 SXM5 80GB → MI300X", setup)
    results.check("TraceLens Qwen: lines of the screen", True, len(text) <= 24)
    sheet = published_tracelens.read_sheet(COMPARED, "ops_summary")
    changes = {line["name"]: abs(float(line["total_direct_kernel_time_ms__mi300_diff"]))
               for line in sheet if line["total_direct_kernel_time_ms__mi300_diff"]}
    first = max(changes, key=changes.get)
    device = next(line for line in lines if line.startswith("DEVICE"))
    results.check("TraceLens Qwen: the operator that changed most", first, device.split()[1])


def main():
    program.need(program.DATA)
    tscope = program.Program(sys.argv[1])
    results = program.Results(prints_all="--all" in sys.argv)
    check_hta(tscope, results)
    check_tracelens(tscope, results)
    check_kineto(tscope, results)
    check_loader(tscope, results)
    check_workers(tscope, results)
    check_devices(tscope, results)
    check_setup(tscope, results)
    with tempfile.TemporaryDirectory() as folder:
        check_baseline(tscope, results, pathlib.Path(folder))
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
