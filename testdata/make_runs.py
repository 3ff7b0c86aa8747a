# SPDX-License-Identifier: MIT
"""The runs of this folder: step records as a job writes them, alone and beside traces. make.py
writes them; README.md says what each shows. Times of phases are in milliseconds here."""
import json

MIB = 1 << 20


def noise(seed):
    """Numbers from -1 to 1 that are the same everywhere (a linear congruential generator)."""
    state = seed * 2654435761 % 2**32
    while True:
        state = (state * 1664525 + 1013904223) % 2**32
        yield state / 2**31 - 1


def record(step, phases, scalars=None, memory=None):
    line = {"step": step, "phases": {k: round(v / 1e3, 9) for k, v in phases.items()}}
    if scalars:
        line["scalars"] = scalars
    if memory:
        line["memory"] = memory
    return json.dumps(line, separators=(",", ":")) + "\n"


def sick_rank(rank):
    """40 steps: rank 2 computes 9 % slower, the loader takes a third of the step on all ranks,
    2 MiB leak per step, and the loss jumps together with the gradient at step 30."""
    jitter, lines = noise(rank + 1), []
    for step in range(40):
        slow = 1.09 if rank == 2 else 1.0
        compute = [slow * base * (1 + 0.01 * next(jitter)) for base in (20, 42, 6)]
        # Whoever is fast waits for rank 2 in the all-reduce.
        comm = 4 + (0 if rank == 2 else 0.09 * 68)
        spike = step == 30
        phases = dict(zip(("data", "forward", "backward", "optimizer", "comm"),
                          (38 + next(jitter), *compute, comm)))
        scalars = {"loss": round((4 - 0.05 * step) * (1.9 if spike else 1) + 0.01 * next(jitter), 6),
                   "grad_norm": round((8.5 if spike else 1) + 0.05 * next(jitter), 6), "lr": 0.001}
        alloc = (900 + 2 * step) * MIB
        memory = {"alloc": alloc, "reserved": 1300 * MIB, "peak_alloc": alloc + 200 * MIB,
                  "peak_reserved": 1300 * MIB}
        lines.append(record(step, phases, scalars, memory))
    return "".join(lines)


def healthy_rank(rank):
    """12 steps without a fault."""
    jitter = noise(rank + 11)
    return "".join(record(step, {"data": 1, "forward": 30 + 0.2 * next(jitter),
                                 "backward": 60 + 0.2 * next(jitter), "optimizer": 5, "comm": 2},
                          {"loss": round(2 - 0.1 * step, 6)})
                   for step in range(12))


def meta(rank, world_size, **more):
    return json.dumps({"name": "run", "config": {"batch": 32}, "rank": rank,
                       "world_size": world_size, "environment": {"torch": "2.8.0"},
                       "started": 1790857026.0, "wall_time": 4.5, **more}, indent=2) + "\n"


def rerun():
    """Two runs appended to one another: the second one begins again with step 0. A line that is
    no JSON, a loss that is NaN, and an incomplete last line."""
    first = "".join(record(i, {"forward": 10, "backward": 20}, {"loss": 9.0}) for i in range(5))
    second = "".join(record(i, {"forward": 11, "backward": 22, "eval": 3.5},
                            {"loss": float("nan") if i == 9 else 3 - 0.1 * i}) for i in range(10))
    return first + "this line is no record\n" + second + '{"step": 10, "phases": {"forw'


def beside_trace():
    """What a job logs beside its trace: the same step numbers."""
    return "".join(record(step, {"data": 0.1, "forward": 0.3, "backward": 0.4, "optimizer": 0.2},
                          {"loss": 1.5 - 0.1 * step, "grad_norm": 0.5},
                          {"alloc": 100 * MIB, "reserved": 128 * MIB})
                   for step in (1, 2))


def runs(trace_of_rank):
    """{name: bytes}; trace_of_rank(rank) is the text of a trace that says so."""
    texts = {}
    for rank in range(4):
        texts[f"run_sick/rank{rank}/steps.jsonl"] = sick_rank(rank)
        texts[f"run_sick/rank{rank}/run.json"] = meta(rank, 5, flops_per_step=2.5e12,
                                                      peak_flops=1e14)
    for rank in range(2):
        texts[f"run_healthy/rank{rank}/steps.jsonl"] = healthy_rank(rank)
        texts[f"run_healthy/rank{rank}/run.json"] = meta(rank, 2, flops_per_step=6e12,
                                                         peak_flops=1e14)
        texts[f"run_mixed/rank{rank}/trace.json"] = trace_of_rank(rank)
    texts["run_mixed/rank0/steps.jsonl"] = beside_trace()
    texts["run_mixed/notes.txt"] = "Not a file of a run.\n"
    texts["run_rerun/steps.jsonl"] = rerun()
    texts["run_rerun/run.json"] = '{"name": "cut'
    return {name: text.encode() for name, text in texts.items()}
