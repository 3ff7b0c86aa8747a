# SPDX-License-Identifier: MIT
"""Figures of TraceLens: its gpu_timeline sheets, kernel and operator summaries and collectives.

TraceLens works in doubles: a time of 10^15 µs is known to it to an eighth of a µs. So a sum over
n events may be off by n times what one double cannot hold; no more is tolerated.
"""
import collections
import csv
import math

import model
import program
import reference

TRACES = program.DATA / "AMD-AGI+TraceLens/tests/traces"
COMPARED = "compare_test_e2e/reference/"
# Folder of sheets → its trace, where the name alone does not tell.
TRACE_OF_FOLDER = {
    "inference/vllm_decode_full/perf_csvs":
        "inference/vllm_decode_full/graph_execution.json.gz",
    "inference/sglang_decode/perf_csvs":
        "inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz",
    "mi300/resnet_act_checkpoint_recompute_perf_report_csvs":
        "mi300/resnet_act_checkpoint.json.gz",
    COMPARED + "h100_perf_report_csvs": "h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    COMPARED + "mi300_perf_report_csvs": "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
}
# This folder's sheets leave out memsets, though the others count them as computation (MANIFEST).
WITHOUT_MEMSET = "perf_model/normalization/normalization_layer_test_perf_report_csvs"
# This one is split by is_recompute, which no trace says; only its totals are comparable.
SPLIT = "mi300/resnet_act_checkpoint_recompute_perf_report_csvs"
KINDS = {"allreduce": "all_reduce", "broadcast": "broadcast"}
ELEMENT_BYTES = {"BFloat16": 2, "Long": 8}
COLLECTIVE_COLUMNS = ("kind", "dtype", "message_bytes", "group_size", "count", "total_ns")
TOTALS = ("total_time", "total_comm_time", "total_memcpy_time")


def sheets():
    """(name, folder, trace) of every folder of sheets whose trace is here."""
    for sheet in sorted(TRACES.rglob("gpu_timeline.csv")):
        name = str(sheet.parent.relative_to(TRACES))
        plain = name.replace("_perf_report_csvs", "") + ".json.gz"
        trace = TRACES / TRACE_OF_FOLDER.get(name, plain)
        if trace.exists():
            yield name, sheet.parent, trace


def read_sheet(folder, sheet):
    path = folder / (sheet + ".csv")
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rounding_ns(rows):
    """What doubles may lose over these rows, in ns."""
    latest = max((row.end for row in rows), default=0)
    return 20 + 1000 * math.ulp(latest / 1000) * len(rows)


def gpu_timeline(rows, with_memset=True):
    """TraceLens' figures in ns: memset is computation, communication is what is called nccl."""
    spans = collections.defaultdict(list)
    for row in rows:
        kind = "memcpy" if row.kind == "memcpy" else "compute"
        if kind == "compute" and "nccl" in row.name.lower():
            kind = "comm"
        if row.kind != "memset" or with_memset:
            spans[kind].append((row.start, row.end))
    compute, comm, memcpy = (reference.union(spans[kind]) for kind in ("compute", "comm", "memcpy"))
    busy = reference.length(reference.union(compute + comm + memcpy))
    total = max(row.end for row in rows) - min(row.start for row in rows)
    hidden = reference.union(compute + comm)
    return {
        "computation_time": reference.length(compute),
        "exposed_comm_time": reference.length(reference.subtract(comm, compute)),
        "exposed_memcpy_time": reference.length(reference.subtract(memcpy, hidden)),
        "busy_time": busy, "idle_time": total - busy, "total_time": total,
        "total_comm_time": reference.length(comm), "total_memcpy_time": reference.length(memcpy),
    }


# tscope's own fact for each of TraceLens' figures that it defines alike, but for unlinked events.
OWN = {"total_time": ("device_busy", "span_ns"), "busy_time": ("device_busy", "busy_ns"),
       "idle_time": ("device_busy", "idle_ns"), "total_comm_time": ("overlap", "comm_ns")}


def check_timeline(results, name, rows, facts, sheet):
    device = model.device_rows(rows)
    linked = [row for row in device if row.launch]
    figures = gpu_timeline(linked, name != WITHOUT_MEMSET)
    reasons = []
    if len(linked) < len(device):
        reasons.append(f"{len(device) - len(linked)} events without a launch count in tscope")
    if name == WITHOUT_MEMSET:
        reasons.append("these sheets leave memsets out")
    for line in sheet:
        figure, published = line["type"], float(line["time ms"]) * 1e6
        if name == SPLIT and (figure not in TOTALS or line["is_recompute"] == "True"):
            continue
        results.near(f"TraceLens {name} {figure}, ns", published, figures[figure],
                     rounding_ns(linked))
        if figure in OWN:
            analyzer, fact = OWN[figure]
            ours = facts[analyzer][fact]
            agrees = abs(ours - published) <= rounding_ns(device)
            results.check(f"TraceLens {name} {figure}, tscope's {analyzer}.{fact}", published,
                          published if agrees else ours, "; ".join(reasons))


def check_kernels(results, name, rows, report, sheet):
    """kernel_summary.csv counts all kernels, linked or not, by operator and stream as well."""
    published = collections.defaultdict(lambda: [0, 0.0])
    for line in sheet:
        published[line["Kernel name"]][0] += int(float(line["Kernel duration (µs)_count"]))
        published[line["Kernel name"]][1] += float(line["Kernel duration (µs)_sum"]) * 1000
    own = program.rows_by_name(report, "kernels", "by_name", "count", "total_ns")
    own.update(program.rows_by_name(report, "copies", "by_name", "count", "total_ns"))
    for kernel, (count, total) in published.items():
        found = own.get(kernel, (0, 0))
        results.check(f"TraceLens {name} kernel {kernel[:50]} count", count, found[0])
        results.near(f"TraceLens {name} kernel {kernel[:50]} total", total, found[1],
                     rounding_ns(rows))


def check_operators(results, name, rows, sheet):
    """ops_summary.csv: device time that an operator launches itself, and how many do."""
    direct = collections.defaultdict(lambda: [0, set()])
    for row in model.device_rows(rows):
        if row.op and row.launch and (row.kind != "memset" or name != WITHOUT_MEMSET):
            direct[row.op.name][0] += row.duration
            direct[row.op.name][1].add(id(row.op))
    for line in sheet:
        total, ops = direct.get(line["name"], (0, ()))
        label = f"TraceLens {name} operator {line['name'][:50]}"
        results.near(label + " direct device time",
                     float(line["total_direct_kernel_time_sum"]) * 1000, total,
                     rounding_ns(rows) + 2000 * len(ops) * 2 ** -10)
        results.check(label + " count", int(line["Count"]), len(ops))


def check_collectives(results, report, sheet):
    """coll_analysis.csv: each collective of one size: how often, how big, how long."""
    found = [tuple(row[column] for column in COLLECTIVE_COLUMNS)
             for row in report["facts"]["collectives"]["by_size"]]
    for line in sheet:
        elements = int(float(line["In msg nelems"]))
        expected = (KINDS[line["Collective name"]], line["dtype"],
                    elements * ELEMENT_BYTES[line["dtype"]], int(float(line["Group size"])),
                    int(line["operation_count"]), round(float(line["dur_sum"]) * 1000))
        results.check(f"TraceLens {line['Collective name']} of {elements} {line['dtype']}",
                      expected, next((row for row in found if row == expected), None))


def check_reference(probe, results):
    """reference.tsv: the same figures for every trace with a GPU, by a script of its maker."""
    rows, path_read = [], None
    with open(program.DATA / "reference.tsv", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for line in lines:
        if line["file"] != path_read:
            path_read = line["file"]
            rows = model.device_rows(model.read(probe, program.DATA / path_read))
        counted = [row for row in rows if line["scope"] == "all" or row.launch]
        label = f"reference.tsv {path_read} {line['scope']}"
        linked = sum(1 for row in rows if row.launch)
        reason = "" if any(row.launch for row in rows) else \
            "this trace has no correlation; External id alone is no link"
        results.check(label + " linked events", int(line["n_gpu_linked"]), linked, reason)
        if not counted:
            continue
        for figure, ns in gpu_timeline(counted).items():
            results.near(f"{label} {figure}, ns", float(line[figure]) * 1000, ns,
                         rounding_ns(counted))


def check(tscope, probe, results):
    for name, folder, trace in sheets():
        rows, report = model.read(probe, trace), tscope.report(trace)
        check_timeline(results, name, rows, report["facts"], read_sheet(folder, "gpu_timeline"))
        check_kernels(results, name, rows, report, read_sheet(folder, "kernel_summary"))
        if name != SPLIT and not name.startswith("inference/"):
            check_operators(results, name, rows, read_sheet(folder, "ops_summary"))
        check_collectives(results, report, read_sheet(folder, "coll_analysis"))
    check_reference(probe, results)
