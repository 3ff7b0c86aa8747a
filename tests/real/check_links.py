#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces whose device events have a correlation, or a flow, or an External id alone: by which way
they are linked, and the FLOPs that follow, worked out here from the inputs of the operators.

usage: check_links.py tscope
"""
import math
import sys

import program
import traces

FOLDER = ("AMD-AGI+TraceLens/agent_evals/Analysis/analysis_tests/unit_tests_standalone.tar.gz.d/"
          "agent_evals/Analysis/analysis_tests/unit_tests_standalone")


def product(dims):
    """[m, k] by [k, n]"""
    return 2 * dims[0][0] * dims[0][1] * dims[1][1]


def attention(dims):
    """Scores, and values weighted with them: [batch, queries, heads, size], keys likewise."""
    batch, queries, heads, size = dims[0]
    return 4 * batch * heads * queries * dims[1][1] * size


def transposed_convolution(dims):
    """Each element of the input meets each weight of its channel."""
    return 2 * math.prod(dims[0]) * math.prod(dims[1][1:])


def experts(dims):
    """Tokens, the two weights of each expert, and the experts of each token."""
    tokens, first, second, chosen = dims
    return 2 * tokens[0] * chosen[1] * (math.prod(first[1:]) + math.prod(second[1:]))


# Trace → way of its links, operator that multiplies, and FLOPs of a call of that.
TRACES = {
    "gemm/gemm_01_compute_few_tiles": ("flow", "aten::mm", product),
    "conv/conv_07_transposed": ("External id", "aten::convolution", transposed_convolution),
    "moe/moe_01_many_experts_few_tokens": ("External id", "vllm::rocm_aiter_fused_moe", experts),
    "attention/sdpa_01_long_seq_low_eff": ("correlation", "aten::_flash_attention_forward",
                                           attention),
    "elementwise/elem_01_add_poor_bw": ("correlation", None, None),
}


def flops_of(trace, name, model):
    return sum(model(event["args"]["Input Dims"]) for event in trace.events
               if event.get("name") == name) if model else None


def check(tscope, results, path, way, name, model):
    report = tscope.report(path)
    label, integrity = program.short(path), report["facts"]["integrity"]
    count = integrity[f"linked_by_{way.lower().replace(' ', '_')}_count"]
    results.check(f"{label} is linked by", way, report["trace"]["link_basis"])
    results.check(f"{label} all are linked", integrity["device_event_count"], count)
    results.check(f"{label} nothing is unlinked", 0, integrity["unlinked_count"])
    results.check(f"{label} TRACE.UNLINKED is silent", False,
                  any(finding["id"] == "TRACE.UNLINKED" for finding in report["findings"]))
    results.check(f"{label} FLOPs", flops_of(traces.read(path), name, model),
                  report["facts"]["flops"]["total"])


def main():
    tscope, results = program.Program(sys.argv[1]), program.Results()
    program.need(program.DATA)
    for name, expected in TRACES.items():
        trace = name.split("/")[1]
        check(tscope, results, program.DATA / FOLDER / f"{name}_analysis_output/{trace}.json",
              *expected)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
