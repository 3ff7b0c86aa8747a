#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How two ranks' calls of one number match, as PyTorch defines it, against what tscope hang says.

torch.distributed.flight_recorder compares every rank with the first: FULLY_MATCHED,
COLLECTIVE_TYPE_MISMATCH, SIZE_OR_SYNTAX_MISMATCH, COLLECTIVE_DTYPE_MISMATCH,
COLLECTIVE_STATE_MISMATCH, or UNDECIDED until all ranks of an all_to_all are looked at. Written a
second time from that definition. tscope differs, and says more, where

- shapes differ and elements agree: no library looks at shapes, so it is no mismatch;
- sizes differ in the number of tensors: "count" rather than "size";
- states differ: whether a call is complete is what one waits for, not a mismatch;
- tensors of a list are uneven: of all_gather the sums of outputs must agree, of reduce_scatter of inputs.

usage: compare_match.py TSCOPE [CASES [FIRST_SEED]]
"""
import collections
import functools
import json
import math
import random
import sys

import check_hang
import seeds

KINDS = ["all_reduce", "broadcast", "_all_gather_base", "_reduce_scatter_base", "all_to_all",
         "reduce", "all_gather"]


def numel(tensors):
    return sum(math.prod(t) for t in tensors)


def differs(a, b):
    """Types, where both have tensors with elements to compare."""
    def unlike(left, right, left_sizes, right_sizes):
        return set(left) != set(right) and left_sizes[0] and right_sizes[0]
    return ((a["name"] != "broadcast" and unlike(a["in_types"], a["out_types"], a["in"], a["out"])) or
            (a["name"] != "broadcast" and unlike(a["in_types"], b["in_types"], a["in"], b["in"])) or
            unlike(a["out_types"], b["out_types"], a["out"], b["out"]))


def match(a, b, size):
    """The state of b against a."""
    if a["name"] != b["name"]:
        return "COLLECTIVE_TYPE_MISMATCH"
    name = a["name"]
    if name != "all_to_all" and (a["in"] != b["in"] or a["out"] != b["out"]):
        return "SIZE_OR_SYNTAX_MISMATCH"
    if name == "all_reduce" and a["in"] != b["out"]:
        return "SIZE_OR_SYNTAX_MISMATCH"
    if name == "all_gather" and math.prod(b["out"][0]) != math.prod(a["in"][0]) * size:
        return "SIZE_OR_SYNTAX_MISMATCH"
    if name == "_reduce_scatter_base" and math.prod(b["in"][0]) != math.prod(a["out"][0]) * size:
        return "SIZE_OR_SYNTAX_MISMATCH"
    if differs(a, b):
        return "COLLECTIVE_DTYPE_MISMATCH"
    if a["state"] != b["state"]:
        return "COLLECTIVE_STATE_MISMATCH"
    return "UNDECIDED" if name == "all_to_all" else "FULLY_MATCHED"


def make_call(rng, name, size):
    shape = [4 * rng.randint(1, 4), 8]
    larger = [shape[0] * size, 8]
    sizes = {"_all_gather_base": (shape, larger), "all_gather": (shape, larger),
             "_reduce_scatter_base": (larger, shape), "all_to_all": (larger, larger)}
    inputs, outputs = sizes.get(name, (shape, shape))
    return {"name": name, "in": [inputs], "out": [outputs], "in_types": ["Float"],
            "out_types": ["Float"], "state": "scheduled"}


def change(rng, call, size):
    """One rank calls it otherwise."""
    what = rng.choice(["none", "name", "size", "shape", "dtype", "state", "count", "split"])
    if what == "name":
        call.update(make_call(rng, rng.choice([k for k in KINDS if k != call["name"]]), size))
    if what == "size":
        for key in ("in", "out"):
            call[key] = [[t[0] + size, *t[1:]] for t in call[key]]
    if what == "shape":
        for key in ("in", "out"):
            call[key] = [[t[0] // 2, 2 * t[1]] for t in call[key]]
    if what == "dtype":
        call["in_types"] = call["out_types"] = ["Half"]
    if what == "state":
        call["state"] = "started"
    if what == "count":
        for key in ("in", "out"):
            call[key] = call[key] * 2
            call[key + "_types"] = call[key + "_types"] * 2
    if what == "split" and call["name"] == "all_to_all":
        call["in"] = [[call["in"][0][0] + 1, 8]]
    return call


def entry(record, call, created):
    return {"record_id": record, "pg_id": 0, "process_group": ["0", "default_pg"],
            "collective_seq_id": record + 1, "p2p_seq_id": 0, "op_id": record,
            "profiling_name": "nccl:" + call["name"], "time_created_ns": created,
            "input_sizes": call["in"], "output_sizes": call["out"],
            "input_dtypes": call["in_types"], "output_dtypes": call["out_types"],
            "state": call["state"], "time_discovered_started_ns": None,
            "time_discovered_completed_ns": None, "retired": False, "timeout_ms": 600000,
            "is_p2p": False}


def expected(calls, size):
    """The kinds that tscope may say, by torch's states and the differences named above."""
    states = {match(calls[0], call, size) for call in calls[1:]}
    if "COLLECTIVE_TYPE_MISMATCH" in states:
        return states, {"other_collective"}
    if calls[0]["name"] == "all_to_all":
        if sum(numel(c["in"]) for c in calls) != sum(numel(c["out"]) for c in calls):
            return states, {"split"}
    elif len({len(c["in"]) for c in calls}) > 1:
        return states, {"count"}
    elif len({numel(c["in"]) for c in calls}) > 1:
        return states, {"size"}
    elif "COLLECTIVE_DTYPE_MISMATCH" in states or (
            "SIZE_OR_SYNTAX_MISMATCH" in states and len({c["in_types"][0] for c in calls}) > 1):
        return states, {"dtype"}
    if calls[0]["name"] == "all_to_all" and "COLLECTIVE_DTYPE_MISMATCH" in states:
        return states, {"dtype"}
    return states, {"unfinished", "not_started"}


def check(tscope, seen, seed, folder):
    rng = random.Random(f"{seed}")
    size = rng.choice([3, 4, 5, 8])
    usual = make_call(rng, rng.choice(KINDS), size)
    calls = [json.loads(json.dumps(usual)) for _ in range(size)]
    change(rng, calls[rng.randrange(1, size)], size)
    states, kinds = expected(calls, size)
    groups = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(size)))}}
    for rank, call in enumerate(calls):
        (folder / f"rank_{rank}.json").write_text(json.dumps({
            "version": "2.9", "pg_config": groups,
            "entries": [entry(0, call, 1700000000000000000 + rank)]}))
    _, facts, _ = check_hang.ask(tscope, folder)
    seen.update(states)
    if facts["kind"] not in kinds:
        yield f"{sorted(states)}: {facts['kind']}, not {sorted(kinds)}: {calls}"


def main():
    tscope, *numbers = sys.argv[1:]
    seen = collections.Counter()
    status = seeds.run(functools.partial(check, tscope, seen), numbers, 500)
    print("states of pairs:", dict(sorted(seen.items())))
    return status


if __name__ == "__main__":
    sys.exit(main())
