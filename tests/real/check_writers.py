#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other writers than Kineto. A trace as torch's Cuspy exporter names its copies has the figures of
the trace that it was made of; one whose device activity was lost is unreliable.

usage: check_writers.py tscope
"""
import json
import re
import sys
import tempfile

import program
import traces

COPY = re.compile(r"Memcpy (\w+) \((.+) -> (.+)\)")
FILL = re.compile(r"Memset \((.+)\)")
MEMORIES = ["Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static",
            "Managed Static"]
WITH_COPIES = ["AMD-AGI+TraceLens/tests/traces/h100/gaunernst_bert-small-uncased__1016001.json.gz",
               "facebookresearch+HolisticTraceAnalysis/tests/data/nccl_parser_config/"
               "nccl_data.json.gz",
               "CodingPlatelets+SwitchTransformers/@0c4a673dce/trace.json"]
WITHOUT_DEVICE = {"HazyResearch+zoology/@97cb07e9ac/trace.json": True,
                  "facebookresearch+HolisticTraceAnalysis/tests/data/cupti_profiler/"
                  "benchmark_result_924719_1679055439_trace.json.gz": True,
                  "CodingPlatelets+SwitchTransformers/@4570414a53/trace.json": False}


def rename(event):
    """A copy or fill as Cuspy writes it; everything else as it is."""
    copy, fill = (pattern.fullmatch(str(event.get("name"))) for pattern in (COPY, FILL))
    if copy:
        event["name"] = "Memcpy"
        kinds = [side.lower().replace(" ", "_") for side in copy.groups()[1:]]
        event["args"].update({"copy kind": copy[1], "src kind": kinds[0], "dst kind": kinds[1]})
    elif fill:
        event["name"] = "Memset"
        event["args"]["memory kind"] = MEMORIES.index(fill[1])
    return bool(copy or fill)


def check_cuspy(tscope, results, path):
    trace = traces.read(path)
    renamed = sum(rename(event) for event in trace.events if isinstance(event, dict))
    results.check(f"{program.short(path)} has copies", True, renamed > 0)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as twin:
        json.dump({**trace.metadata, "traceEvents": trace.events}, twin)
        twin.flush()
        results.check(f"{program.short(path)} of Cuspy",
                      json.dumps(tscope.report(path)["facts"]["copies"]),
                      json.dumps(tscope.report(twin.name)["facts"]["copies"]))


def main():
    tscope, results = program.Program(sys.argv[1]), program.Results()
    program.need(program.DATA)
    for name in WITH_COPIES:
        check_cuspy(tscope, results, program.DATA / name)
    for name, is_lost in WITHOUT_DEVICE.items():
        integrity = tscope.report(program.DATA / name)["facts"]["integrity"]
        results.check(f"{name} lost its device", is_lost, integrity["verdict"] == "doubtful")
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
