#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares tscope with traces whose truth is known: generated ones, of every style and machine.
All figures are exact, to the ns and to the FLOP; only ratios are rounded, to a part in 10^9.

usage: check_truth.py TSCOPE
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import program

STYLES = ("classic", "kineto2026", "compact")
EXTRAS = {
    "plain": [],
    "full": ["--python-stack", "--record-shapes", "--memory"],
}
# Beside every style with and without extras: one option at a time.
VARIATIONS = [
    *(["--record-shapes", "--gpu", gpu] for gpu in ("V100", "A100", "H100", "H200", "B200",
                                                    "MI300X")),
    ["--clock-skew-us", "500", "--ranks", "2"],
    ["--overlap", "0"],
    ["--overlap", "0.8"],
    ["--buckets", "0"],
    ["--dataloader-stall", "30"],
    ["--straggler", "0:20", "--ranks", "2", "--record-shapes"],
    ["--compress", "gz", "--python-stack", "--record-shapes"],
    ["--compress", "zst", "--style", "compact", "--record-shapes"],
    ["--layout", "hta", "--flops"],
    ["--first-step", "0", "--steps", "1"],
]
BUDGET_LINES = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "data_stall_ns",
                "sync_stall_ns", "launch_stall_ns", "device_gap_ns", "unattributed_ns")

# ---- FLOPs, worked out from the shapes a second time ------------------------------------------


def product(left, right):
    (rows, inner), (_, columns) = left, right
    return 2 * rows * inner * columns


def attention(query, key, factor):
    """query and key as flash takes them: batch, sequence, heads, head dimension."""
    batch, length, heads, dimension = query
    return factor * batch * heads * length * key[1] * dimension


# The innermost operators that compute; those around them have the same FLOPs and do not count.
FORMULAS = {
    "aten::mm": lambda dims: product(*dims),
    "aten::addmm": lambda dims: product(dims[1], dims[2]),
    "aten::_flash_attention_forward": lambda dims: attention(dims[0], dims[1], 4),
    "aten::_flash_attention_backward": lambda dims: attention(dims[1], dims[2], 10),
}
MATRIX_KERNELS = ("nvjet", "sm90_xmma_gemm", "void flash::")
# A marker ends this long before the next one starts; the window of its step holds the gap, too.
MARKER_GAP_NS = 1000
# The generator computes in bf16 on every machine. A V100 has no tensor cores for it.
WITHOUT_BF16 = ("V100",)


def flops_of_shapes(path):
    """Operator → how often it ran, its FLOPs; by the inputs that the trace holds."""
    sums = {}
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["name"] in FORMULAS:
            count, flops = sums.get(event["name"], (0, 0))
            sums[event["name"]] = (count + 1,
                                   flops + FORMULAS[event["name"]](event["args"]["Input Dims"]))
    return sums


def by_operator(report):
    """The same of tscope's table, whose rows are operators by their inputs."""
    sums = {}
    for row in report["facts"]["flops"]["by_operator"]:
        if row["flops"]:
            count, flops = sums.get(row["name"], (0, 0))
            sums[row["name"]] = (count + row["count"], flops + row["flops"])
    return sums


# ---- one trace ------------------------------------------------------------------------------


def option_lists():
    for style in STYLES:
        for extra in EXTRAS.values():
            yield ["--style", style, *extra]
    for variation in VARIATIONS:
        if "zst" in variation and not shutil.which("zstd"):
            print("not generated: zst, the generator needs the program zstd")
            continue
        yield variation


def generate(folder, options):
    """Writes a run and returns its truth."""
    base = ["--steps", "3", "--events-per-step", "900"]
    subprocess.run([sys.executable, program.SHARED / "tools" / "gen_trace.py", folder,
                    *base, *options], check=True, capture_output=True)
    return json.loads((folder / "truth.json").read_text())


def check_steps(results, label, rank, facts):
    """Step numbers, starts and durations; and that each budget sums to its window."""
    expected = [(number, start, rank["variants"][variant]["step"])
                for number, variant, start in rank["steps"]]
    steps = facts["steps"]["list"]
    results.check(label + " steps", expected,
                  [(s["step"], s["start_ns"], s["dur_ns"]) for s in steps])
    results.check(label + " steps.count", len(expected), facts["steps"]["count"])
    results.check(label + " boundary", "profiler_step", facts["steps"]["boundary"])
    for step in steps:
        results.check(f"{label} step {step['step']} budget", step["wall_ns"],
                      sum(step[line] for line in BUDGET_LINES))


def check_device(results, label, totals, facts):
    """Sums over the whole trace: all of a step's device work lies inside its marker."""
    busy, overlap = facts["device_busy"], facts["overlap"]
    marked_ns = sum(step["dur_ns"] for step in facts["steps"]["list"])
    results.check(label + " compute", totals["compute"], busy["compute_ns"])
    results.check(label + " comm", totals["comm"], overlap["comm_ns"])
    results.check(label + " overlapped", totals["comm_overlap"], overlap["overlapped_ns"])
    results.check(label + " exposed", totals["comm_exposed"], overlap["exposed_ns"])
    results.check(label + " copy", totals["memory"], busy["copy_ns"])
    results.check(label + " busy", totals["busy"], busy["busy_ns"])
    results.check(label + " idle", totals["idle"], marked_ns - busy["busy_ns"])


def table(report, analyzer, *columns):
    rows = program.rows_by_name(report, analyzer, "by_name", *columns)
    return {name: list(figures) for name, figures in rows.items()}


def check_tables(results, label, rank, report):
    columns = ("count", "total_ns")
    device = {**table(report, "kernels", *columns), **table(report, "copies", *columns)}
    results.check(label + " kernels", rank["kernels"], device)
    results.check(label + " operators", rank["ops"],
                  table(report, "operators", *columns, "self_ns"))
    results.check(label + " annotations", rank["annotations"], table(report, "spans", *columns))


def check_events(results, label, rank, report):
    categories = report["facts"]["integrity"]["categories"]
    results.check(label + " events by category",
                  {name: count for name, count in rank["events"].items() if name != "total"},
                  {f"{row['phase']}/{row['category'] or ''}": row["count"] for row in categories})
    results.check(label + " events", rank["events"]["total"], report["inputs"][0]["events"])
    results.check(label + " bytes", rank["bytes"], report["inputs"][0]["bytes"])
    results.check(label + " dropped", 0, sum(report["inputs"][0]["dropped"].values()))


def check_report(results, label, rank, report):
    """A report of one rank against the rank's truth. tests/bench uses this, too."""
    check_events(results, label, rank, report)
    check_steps(results, label, rank, report["facts"])
    check_device(results, label, rank["totals"], report["facts"])
    check_tables(results, label, rank, report)


def check_flops(results, label, rank, report):
    """FLOPs of a trace with shapes: all of them are known, and nothing is computed twice."""
    flops, efficiency = report["facts"]["flops"], report["facts"]["efficiency"]
    total, step_count = rank["totals"]["flops"], len(rank["steps"])
    results.check(label + " flops.total", total, flops["total"])
    results.check(label + " flops.repeated", 0, flops["repeated"])
    results.check(label + " flops.coverage_ratio", 1, flops["coverage_ratio"])
    results.check(label + " flops.matrix_ns",
                  sum(total_ns for name, (_, total_ns) in rank["kernels"].items()
                      if name.startswith(MATRIX_KERNELS)), flops["matrix_ns"])
    results.check(label + " flops.uncounted_ns", 0, flops["uncounted_ns"])
    results.check(label + " flops_per_step", total / step_count, efficiency["flops_per_step"])
    results.check(label + " hardware_flops_per_step", total / step_count,
                  efficiency["hardware_flops_per_step"])
    results.check(label + " wall_ns", rank["totals"]["step"] + MARKER_GAP_NS * (step_count - 1),
                  efficiency["wall_ns"])
    results.check(label + " source", ("operators", 1, "bf16"),
                  tuple(efficiency[name] for name in ("flops_source", "flops_coverage_ratio",
                                                      "precision")))


def check_mfu(results, label, truth, rank, report):
    """The truth's MFU is of the markers' time; ours of the windows', which hold the gaps between
    markers, too. Ours is never more than the share of computing."""
    efficiency = report["facts"]["efficiency"]
    peak_flops = truth["meta"]["gpu_peak_bf16_tflops"] * 1e12
    uncapped = rank["mfu"] * rank["totals"]["step"] / efficiency["wall_ns"]
    mfu = min(uncapped, efficiency["compute_ns"] / efficiency["wall_ns"])
    for name, expected in (("peak_flops", peak_flops), ("mfu_uncapped", uncapped), ("mfu", mfu),
                           ("hfu", mfu), ("useful_ratio", mfu),
                           ("achieved_tflops", uncapped * peak_flops / 1e12)):
        results.near(f"{label} {name}", expected, efficiency[name], 1e-9 * expected)
    results.check(label + " mfu_is_lower_bound", False, efficiency["mfu_is_lower_bound"])


def check_no_mfu(results, label, report, *absent):
    """What cannot be known is absent, never 0, and the report says why."""
    efficiency = report["facts"]["efficiency"]
    for name in ("mfu", "hfu", "mfu_uncapped", *absent):
        results.check(f"{label} {name}", None, efficiency[name])
    results.check(f"{label} says why there is no mfu", True,
                  bool(efficiency.get("doubts", {}).get("mfu")))


def check_without_shapes(results, label, report):
    check_no_mfu(results, label, report, "flops_per_step", "hardware_flops_per_step",
                 "achieved_tflops")
    results.check(label + " flops.total", None, report["facts"]["flops"]["total"])
    results.check(label + " flops.coverage_ratio", 0, report["facts"]["flops"]["coverage_ratio"])


def check_operators(results, label, rank, report, path):
    """The truth, and tscope's table, against the shapes that stand in the file."""
    expected = flops_of_shapes(path)
    results.check(label + " flops of the shapes", rank["totals"]["flops"],
                  sum(flops for _, flops in expected.values()))
    results.check(label + " flops by operator", expected, by_operator(report))


def check_efficiency(tscope, results, label, truth, rank, path):
    """FLOPs and MFU of one rank, as far as its options let them be known."""
    options, report = truth["meta"]["options"], tscope.report(path)
    if not options["record_shapes"]:
        check_without_shapes(results, label, report)
        return
    check_flops(results, label, rank, report)
    if options["compress"] == "none":
        check_operators(results, label, rank, report, path)
    if options["gpu_key"] in WITHOUT_BF16:
        check_no_mfu(results, label, report, "peak_flops")
        report = tscope.report(path, "--peak-tflops", truth["meta"]["gpu_peak_bf16_tflops"])
    check_mfu(results, label, truth, rank, report)


def check_run(tscope, results, folder, options):
    truth = generate(folder, options)
    for rank in truth["ranks"]:
        label, path = " ".join(options) + f" rank {rank['rank']}", folder / rank["file"]
        check_report(results, label, rank, tscope.report(path))
        check_efficiency(tscope, results, label, truth, rank, path)


def main():
    program.need(program.SHARED / "tools" / "gen_trace.py")
    tscope = program.Program(sys.argv[1])
    results = program.Results()
    for options in option_lists():
        with tempfile.TemporaryDirectory() as folder:
            check_run(tscope, results, pathlib.Path(folder), options)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
