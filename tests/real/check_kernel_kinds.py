#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which share of kernel time is of no known kind, in every trace of a GPU of the shared folder: at
most 3 % of all their time together, at most 10 % in each trace of inference.

usage: check_kernel_kinds.py TSCOPE [FILE...]
"""
import pathlib
import re
import sys

import check_reference
import program

MOST_OF_ALL, MOST_OF_INFERENCE = 0.03, 0.1
# No GPU: each of its kernels is a part of a user's network, named "merge", "pe_exe" or "remote".
NO_GPU = re.compile(r"/mtia_inference_trace/")
INFERENCE = re.compile(r"inference|TraceLens/tests/traces/(h100|mi300)/(?!resnet)")


def kernel_times(tscope, path):
    """Time of kernels in all and of those of no known kind; None where there is no trace."""
    try:
        report = tscope.report(path)
    except RuntimeError:
        return None
    kinds = {row["kind"]: row["total_ns"]
             for row in report["facts"].get("kernels", {}).get("by_kind", ())}
    return sum(kinds.values()), kinds.get("other", 0)


def main():
    tscope = program.Program(sys.argv[1])
    program.need(program.DATA)
    results = program.Results()
    everything = unknown = 0
    for path in map(pathlib.Path, sys.argv[2:] or check_reference.all_traces()):
        label = program.short(path)
        times = kernel_times(tscope, path)
        if not times or not times[0]:
            continue
        total, other = times
        share = other / total
        if other:
            print(f"{share:7.2%} {label}")
        if NO_GPU.search(label):
            continue
        everything += total
        unknown += other
        if INFERENCE.search(label):
            results.check(f"{label}: at most {MOST_OF_INFERENCE:.0%} of no kind", True,
                          share <= MOST_OF_INFERENCE)
    share = unknown / everything if everything else 1
    print(f"{share:.3%} of {everything / 1e9:.3f} s of all kernels")
    results.check(f"at most {MOST_OF_ALL:.0%} of all kernels' time of no kind", True,
                  share <= MOST_OF_ALL)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
