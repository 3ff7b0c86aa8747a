# SPDX-License-Identifier: MIT
"""Figures that the tests of HolisticTraceAnalysis assert, as far as they concern one rank."""
import collections

import model
import program

FOLDER = program.DATA / "facebookresearch+HolisticTraceAnalysis/tests/data"
NS_RESOLUTION = "ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"


def category_count(report, category):
    return sum(row["count"] for row in report["facts"]["integrity"]["categories"]
               if row["category"] == category)


def step_starts(report):
    return [step["start_ns"] for step in report["facts"]["steps"]["list"]]


def check_nccl_data(tscope, probe, results):
    path = FOLDER / "nccl_parser_config/nccl_data.json.gz"
    facts = tscope.report(path)["facts"]
    results.check("HTA nccl_data NCCL kernels", 21,
                  len(model.of_kinds(model.read(probe, path), "comm")))
    rows = facts["collectives"]["by_kind"]
    results.check("HTA nccl_data collectives", 21, sum(row["count"] for row in rows))
    # One all-reduce of 2,049,000 floats in group 0 (default_pg) of ranks 0 and 1.
    with_size = [row for row in rows if row["bytes"]]
    results.check("HTA nccl_data all-reduce with metadata", True,
                  any(row["bytes"] >= 2049000 * 4 and row["group_size"] == 2 for row in with_size))


def launched_in(row, spans):
    return row.launch and any(span.track == row.launch.track
                              and span.start <= row.launch.start < span.end for span in spans)


def check_ns_resolution(tscope, probe, results):
    """HTA drops the last step and keeps what was launched before it."""
    rows, report = model.read(probe, FOLDER / NS_RESOLUTION), tscope.report(FOLDER / NS_RESOLUTION)
    first, *_, last = step_starts(report)
    kept = [row for row in model.device_rows(rows)
            if row.launch and first <= row.launch.start < last]
    results.check("HTA ns_resolution GPU events kept", 4876, len(kept))
    optimizer = [row for row in rows if row.name == "Optimizer.step#SGD.step"]
    results.check("HTA ns_resolution kernels under the optimizer, run before the last step", 27,
                  sum(1 for row in kept if row.start < last and launched_in(row, optimizer)))
    annotations = model.of_kinds(rows, "annotation")
    results.check("HTA ns_resolution annotation names", 13, len({row.name for row in annotations}))
    results.check("HTA ns_resolution annotation names before the last step", 12,
                  len({row.name for row in annotations if row.start < last}))
    forward = [row for row in annotations if row.name == "DistributedDataParallel.forward"]
    results.check("HTA ns_resolution Memcpy DtoD under DistributedDataParallel.forward", True,
                  any(row.name.startswith("Memcpy DtoD") and launched_in(row, forward)
                      for row in kept))


def check_trace_filter(tscope, probe, results):
    path = FOLDER / "trace_filter/sampled_rank-0.json.gz"
    start, end = 1682725898237042000, 1682725898240570000
    rows = model.read(probe, path)
    results.check("HTA trace_filter events inside the window", 93,
                  sum(1 for row in rows if start <= row.start and row.end <= end))
    results.check("HTA trace_filter steps", [551, 552],
                  [step["step"] for step in tscope.report(path)["facts"]["steps"]["list"]])


def host_counts(rows, step):
    """Names of what the host started inside a marked step, with count and total in µs."""
    counts = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row.kind not in model.DEVICE_KINDS and step.start <= row.start < step.end:
            counts[row.name][0] += 1
            counts[row.name][1] += row.duration // 1000
    return {name: tuple(figures) for name, figures in counts.items()}


def check_trace_compare(tscope, probe, results):
    tables = []
    for name in ("base", "test"):
        path = FOLDER / f"trace_compare/{name}/{name}.json.gz"
        results.check(f"HTA trace_compare {name} steps", [1009, 1010],
                      [step["step"] for step in tscope.report(path)["facts"]["steps"]["list"]])
        rows = model.read(probe, path)
        step = next(row for row in rows if row.name == "ProfilerStep#1010")
        tables.append(host_counts(rows, step))
    base, test = tables
    published = {"ProfilerStep#1010": (1, 122149), "cudaEventQuery": (1, 4),
                 "cudaLaunchKernel": (1, 4), "nccl:all_reduce": (1, 67)}
    for name, figures in published.items():
        results.check(f"HTA trace_compare {name}, count and µs", figures, base.get(name))
    results.check("HTA trace_compare CPU events of step 1010", 6, sum(c for c, _ in base.values()))
    results.check("HTA trace_compare added", {"AddmmBackward0", "All2All_Pooled_Req",
                                              "CatBackward0"}, set(test) - set(base))
    results.check("HTA trace_compare deleted", {"nccl:all_reduce"}, set(base) - set(test))


def check_small_ones(tscope, probe, results):
    path = FOLDER / "cupti_profiler/benchmark_result_924719_1679055439_trace.json.gz"
    report = tscope.report(path)
    results.check("HTA cupti_profiler cuda_profiler_range rows", 77,
                  category_count(report, "cuda_profiler_range"))
    path = FOLDER / "triton_example/triton_example.json.gz"
    report = tscope.report(path)
    results.check("HTA triton_example base", 1727743122000000000, report["trace"]["base_time_ns"])
    rows = model.read(probe, path)
    results.check("HTA triton_example start, within 1 µs", True,
                  any(abs(row.start - 2413669096090100) <= 1000 for row in rows))
    results.check("HTA triton_example triton operators", 1,
                  sum(1 for row in rows if row.kind == "cpu_op"
                      and row.name == "triton_poi_fused_add_cos_sin_0"))
    report = tscope.report(FOLDER / "cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz")
    trace = report["trace"]
    results.check("HTA cpu_only rank, world size, backend, GPUs", (34, 300, "gloo", 0),
                  (trace["rank"], trace["world_size"], trace["backend"], len(report["devices"])))
    report = tscope.report(FOLDER / "mtia_inference_trace/mtia_inference_rank_0.json.gz")
    results.check("HTA mtia_inference events, dropped, boundary", (16158, 0, "whole_trace"),
                  (report["inputs"][0]["events"], sum(report["inputs"][0]["dropped"].values()),
                   report["facts"]["steps"]["boundary"]))
    for name in ("rank_unavailable/rank_not_found", "distributed_info_unavailable/"
                 "distributed_info_not_found"):
        report = tscope.report(FOLDER / (name + ".json.gz"))
        results.check(f"HTA {name} rank", 0, report["trace"]["rank"],
                      "HTA takes rank 0 where the trace says none; tscope says that it says none")


def check(tscope, probe, results):
    check_nccl_data(tscope, probe, results)
    check_ns_resolution(tscope, probe, results)
    check_trace_filter(tscope, probe, results)
    check_trace_compare(tscope, probe, results)
    check_small_ones(tscope, probe, results)
