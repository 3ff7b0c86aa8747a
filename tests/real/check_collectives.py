#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sizes of collectives without records of them: worked out here from the spans around each kernel's
launch call, as the operators of c10d and the spans of NCCL's backend are called.

usage: check_collectives.py tscope
"""
import json
import math
import sys

import program
import traces

ELEMENT_BYTES = {"float": 4, "long": 8, "long int": 8, "int": 4, "unsigned char": 1,
                 "signed char": 1, "c10::BFloat16": 2, "c10::Half": 2}
TWO_SIDED = ("alltoall", "allgather", "reduce_scatter")
FOLDERS = ["facebookresearch+param/et_replay/tests/inputs/dlrm_kineto.tar.gz.d/dlrm_kineto",
           "facebookresearch+HolisticTraceAnalysis/tests/data/timeline_analysis",
           "facebookresearch+HolisticTraceAnalysis/tests/data/trace_filter"]


def spans_above(call, spans):
    """The spans that enclose a call, innermost first."""
    start = float(call["ts"])
    return sorted((span for span in spans
                   if (span["pid"], span["tid"]) == (call["pid"], call["tid"])
                   and float(span["ts"]) <= start <= float(span["ts"]) + float(span["dur"])),
                  key=lambda span: float(span["dur"]))


def bytes_of(dims, kind):
    return math.prod(dims) * ELEMENT_BYTES[kind]


def size_of(call, spans):
    """Bytes of the collective that a call launches, or None."""
    for span in spans_above(call, spans):
        args = span.get("args", {})
        dims, types = args.get("Input Dims", []), args.get("Input type", [])
        if span["name"].startswith("nccl:") and "all_reduce" in span["name"]:
            return bytes_of(dims[0], types[0]) if dims else None
        if span["name"].startswith("c10d::") and any(w in span["name"] for w in TWO_SIDED):
            return max(bytes_of(dims[i], types[i]) for i in (0, 1)) if dims else None
    return None


def sizes_of(trace):
    """Sorted sizes of all kernels of NCCL."""
    events = [e for e in trace.events if isinstance(e, dict) and e.get("ph") == "X"]
    calls = {e["args"].get("correlation"): e for e in events if e.get("cat") == "cuda_runtime"}
    spans = [e for e in events if e.get("cat") in ("cpu_op", "user_annotation")]
    return sorted(size_of(calls[e["args"]["correlation"]], spans) or -1 for e in events
                  if e.get("cat") == "kernel" and e["name"].startswith("nccl"))


def found_sizes(report):
    """The same by tscope."""
    return sorted(row["message_bytes"] or -1 for row in report["facts"]["collectives"]["by_size"]
                  for _ in range(row["count"]))


def main():
    tscope, results = program.Program(sys.argv[1]), program.Results()
    program.need(program.DATA)
    for folder in FOLDERS:
        for path in sorted((program.DATA / folder).glob("*.json*")):
            results.check(program.short(path), json.dumps(sizes_of(traces.read(path))),
                          json.dumps(found_sizes(tscope.report(path))))
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
