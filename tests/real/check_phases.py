#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Phases of compute: those of every trace sum to its compute line; kernels that nothing links to an
operator are of unknown phase; training traces have the backward pass that they should.

usage: check_phases.py TSCOPE [FILE...]
"""
import pathlib
import sys

import check_reference
import program

# Part of a path → phase → the least and the most share of compute. The shares of the raw events: by
# thread in traces of torch 1.8, by engine spans later; graph replays have no operator.
SHARES = (
    ("tb_plugin/samples/resnet50", {"backward": (0.55, 0.70), "forward": (0.28, 0.36)}),
    ("nccl_parser_config/nccl_data", {"backward": (0.60, 0.70)}),
    ("df_index_resolver", {"backward": (0.60, 0.66), "optimizer": (0.04, 0.07)}),
    ("vllm_decode_full/graph_execution", {"unknown": (0.96, 0.98), "forward": (0.02, 0.04)}),
    ("sglang_decode/sglang_Qwen3-8B_decode", {"unknown": (0.98, 1), "forward": (0, 0.02)}),
    ("gpu_only_trace", {"unknown": (1, 1)}),
    ("h100/Falconsai", {"forward": (1, 1)}),
)


def check_trace(results, label, report):
    budget = report["facts"].get("budget", {})
    compute_ns = budget.get("compute_total_ns")
    if not compute_ns:
        return
    phases = {name.removesuffix("_total_ns"): ns for name, ns in budget["phase"].items()}
    results.check(label + " phases sum to compute", compute_ns, sum(phases.values()))
    if not report["facts"].get("operators", {}).get("by_name"):
        results.check(label + " forward without an operator", 0, phases["forward"])
    for part, shares in SHARES:
        for phase, (least, most) in shares.items() if part in label else ():
            share = phases[phase] / compute_ns
            results.check(f"{label} {phase} {share:.3f} of {least} to {most}", True,
                          least <= share <= most)


def main():
    tscope = program.Program(sys.argv[1])
    program.need(program.DATA)
    results = program.Results()
    for path in map(pathlib.Path, sys.argv[2:] or check_reference.all_traces()):
        try:
            check_trace(results, program.short(path), tscope.report(path))
        except RuntimeError:
            continue
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
