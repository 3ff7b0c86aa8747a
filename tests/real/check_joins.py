#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays of serving engines beside the capture of their graphs: the join against a second reading
of the raw events, and its FLOPs against the tables that TraceLens published of the same traces.

usage: check_joins.py TSCOPE
"""
import csv
import sys

import program

sys.path.append(str(program.SOURCE_ROOT / "tests/reference"))

import compare_joins  # noqa: E402: found by the line above

INFERENCE = program.DATA / "AMD-AGI+TraceLens/tests/traces/inference"
RUNS = ("vllm_decode_full", "sglang_decode")


def published(run, table):
    with open(run / "perf_csvs" / table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def flops_of(facts, kind):
    """By the sizes of the product, or by name."""
    found = {}
    for row in facts["flops"]["by_operator"]:
        if row["kind"] == kind and row["flops"]:
            sizes = row["shape"].split(", ")[-2:] if kind == "gemm" else row["name"]
            found[str(sizes)] = found.get(str(sizes), 0) + row["flops"]
    return found


def check_products(results, run, facts):
    found = flops_of(facts, "gemm")
    for row in published(run, "GEMM.csv"):
        if not row["name"].startswith("aten::"):  # the operators around list the same products
            continue
        m, n, k = (int(row[f"param: {size}"]) for size in "MNK")
        flops = float(row["GFLOPS_first"]) * 1e9 * int(row["name_count"])
        results.near(f"{run.name} {m}x{k} x {k}x{n}", flops,
                     found.get(str([f"{m}x{k}", f"{k}x{n}"]), 0), 0.02 * flops)


def check_bytes(results, run, facts):
    """Weights and cache of an iteration, where all are known: of SGLang's, not of vLLM's experts."""
    if run.name == "sglang_decode":
        rows = [row for row in published(run, "InferenceAttention_fwd.csv")
                if float(row["GFLOPS_first"]) > 0]
        products = {}  # operators around list the same ones
        for row in published(run, "GEMM.csv"):
            products[row["param: M"], row["param: N"], row["param: K"]] = row
        moved = sum(float(row["Data Moved (MB)_first"]) * 2 ** 20 * int(row["name_count"])
                    for row in (*rows, *products.values()))
        decode = facts["inference"]["decode"]
        results.near(f"{run.name} bytes", moved, decode["bytes"], 0.02 * moved)
        results.check(f"{run.name} bound", "memory", decode["bound"])


def check_attention(results, run, facts):
    """TraceLens gives the layers with a window the FLOPs of all keys, at 8.4 of 5.3 TB/s."""
    rows = [row for row in published(run, "InferenceAttention_fwd.csv")
            if float(row["GFLOPS_first"]) > 0 and float(row["TB/s_mean"]) < 5.3]
    flops = sum(float(row["GFLOPS_first"]) * 1e9 * int(row["name_count"]) for row in rows)
    results.near(f"{run.name} attention", flops, sum(flops_of(facts, "attention").values()),
                 0.02 * flops)


def check_experts(results, run, facts):
    """TraceLens takes the inner size for the hidden one: 3072 where the weights have 2944."""
    if not (run / "perf_csvs/MoE_unfused_fwd.csv").exists():
        return
    flops = sum(float(row["GFLOPS_first"]) * 1e9 * int(row["name_count"]) * 2944 / 3072
                for row in published(run, "MoE_unfused_fwd.csv"))
    results.near(f"{run.name} experts", flops, flops_of(facts, "moe")["vllm::moe_forward"],
                 0.001 * flops)


def check_expert_bytes(results, run, facts):
    """4 to 32 of 32 experts are read: [32, 1536, 5888] and [32, 1472, 3072] of bytes, in 24 layers."""
    decode = facts["inference"]["decode"]
    if not (run / "perf_csvs/MoE_unfused_fwd.csv").exists():
        results.check(f"{run.name} range", None, decode["bandwidth_most_ratio"])
        return
    of_one = 1536 * 5888 + 1472 * 3072
    kernel_s = sum(row["total_ns"] for row in facts["inference"]["kinds"]) / 1e9
    more = 24 * (32 - 4) * of_one / compare_joins.BANDWIDTH / kernel_s
    results.near(f"{run.name} experts read", more,
                 decode["bandwidth_most_ratio"] - decode["bandwidth_ratio"], 1e-6)


def main():
    program.need(INFERENCE)
    results = program.Results()
    for run in (INFERENCE / name for name in RUNS):
        facts = compare_joins.report(sys.argv[1], run)
        for what, expected, found in compare_joins.compare(sys.argv[1], run, facts):
            results.check(what, expected, found)
        results.check(f"{run.name} coverage at least 0.9", True,
                      facts["flops"]["coverage_ratio"] >= 0.9)
        results.check(f"{run.name} joined", 1, facts["graphs"]["joined_ratio"])
        check_products(results, run, facts)
        check_bytes(results, run, facts)
        check_expert_bytes(results, run, facts)
        check_attention(results, run, facts)
        check_experts(results, run, facts)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
