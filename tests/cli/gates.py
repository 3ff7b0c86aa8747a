#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What gates say of small inputs, against what somebody who knows the input says.

usage: gates.py TSCOPE [WORD...]      only situations with one of the words in their name

A situation is an input, a gate, a verdict and an exit code. A gate holds only where the input is
whole and tells that its condition is not so; it trips where the condition is so, or where nothing
is known of its figure; all else is undecided, which fails unless --undecided pass.
"""
import gzip
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

HELD, TRIPPED, UNDECIDED = "held", "tripped", "undecided"
REFUSED, UNREADABLE = "refused", "unreadable"
EXITS = {HELD: 0, TRIPPED: 1, UNDECIDED: 1, REFUSED: 2, UNREADABLE: 3}
MIB = 1 << 20
FEATURES = subprocess.run([sys.argv[1], "--version"], text=True, check=True, capture_output=True).stdout
HAS_GZIP, HAS_ZSTD, HAS_YAML = (name + ": not built in" not in FEATURES for name in ("zlib", "zstd", "libyaml"))
situations = []


def expect(name, build, gate, verdict, exit_code=None, command="report", options=(), operands=(".",)):
    situations.append((f"{name}: {gate}", build, gate, verdict,
                       EXITS[verdict] if exit_code is None else exit_code, command, options,
                       operands))


# ---- inputs ------------------------------------------------------------------------------------

def wobble(step, rank=0):
    """A percent of noise that is the same everywhere and resembles no neighbour."""
    return 1 + 0.01 * (((step * 7 + rank * 3) * 2654435761 >> 7) % 201 - 100) / 100


def text_of(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def records(count=20, seconds=0.1, first=0, rank=0, **more):
    """Steps that compute for nine tenths of `seconds`, which may be a function of the step."""
    for step in range(first, first + count):
        time = (seconds(step) if callable(seconds) else seconds) * wobble(step, rank)
        yield {"step": step, "phases": {"forward": 0.9 * time, "comm": 0.1 * time}, **more}


def steps(folder, lines, **meta):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "steps.jsonl").write_text(lines if isinstance(lines, str) else text_of(lines))
    if meta:
        (folder / "run.json").write_text(json.dumps(meta))


def one(**options):
    """A run of one rank."""
    meta = options.pop("meta", {})
    return lambda folder: steps(folder, records(**options), **meta)


def ranks(count, step_count=20, slow=1, world=None, which=None, slow_rank=1, beside=None):
    """A run of several ranks, of which one takes `slow` times as long; `which` of them are there."""
    def build(folder):
        for rank in which if which is not None else range(count):
            factor = slow if rank == slow_rank else 1
            steps(folder / f"rank{rank}", records(step_count, 0.1 * factor, rank=rank), rank=rank,
                  **({"world_size": world or count} if world != 0 else {}))
        if beside:
            beside(folder)
    return build


def kernel_events(count=6, step_us=1000, busy_us=700, first=1):
    for step in range(first, first + count):
        start = step * step_us
        yield {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1,
               "tid": 1, "ts": start, "dur": step_us}
        yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
               "ts": start + 5, "dur": 5, "args": {"correlation": step}}
        yield {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": start + 20,
               "dur": busy_us + step % 3, "args": {"correlation": step, "device": 0, "stream": 7}}


def trace_text(events=None, **header):
    return json.dumps({**header, "traceEvents": list(events or kernel_events())})


def file_of(name, content):
    """A folder with one file in it."""
    def build(folder):
        data = content.encode() if isinstance(content, str) else content
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return build


def pair(a, b):
    def build(folder):
        a(folder / "a")
        b(folder / "b")
    return build


def compare(name, a, b, gate, verdict, exit_code=None, options=()):
    expect("diff, " + name, pair(a, b), gate, verdict, exit_code, "diff", options, ("a", "b"))


# ---- power: too few steps or ranks say nothing --------------------------------------------------

for gate in ("straggler", "DIST.STRAGGLER"):
    for rank_count in (2, 3, 4, 8):
        for step_count in (1, 2, 3, 5, 9, 20):
            sick = ranks(rank_count, step_count, 9)
            healthy = ranks(rank_count, step_count)
            # Which of two is the odd one a single step does not say; of more it does.
            expect(f"{rank_count} ranks, {step_count} steps, one 9 x slower", sick, gate,
                   UNDECIDED if step_count == 1 and rank_count == 2 else TRIPPED)
            expect(f"{rank_count} ranks, {step_count} steps, alike", healthy, gate,
                   HELD if step_count > 3 else UNDECIDED)
    expect("1 rank", one(), gate, TRIPPED)  # nothing is known of others
    expect("8 ranks, one 5 % slower", ranks(8, 40, 1.05), gate, TRIPPED)
    expect("8 ranks, one 1 % slower, as devices are", ranks(8, 40, 1.01), gate, HELD)
    expect("2 ranks, a step in common", lambda folder: (
        steps(folder / "rank0", records(20), rank=0, world_size=2),
        steps(folder / "rank1", records(20, 0.9, first=19), rank=1, world_size=2)), gate, UNDECIDED)
    expect("2 ranks, no step in common", lambda folder: (
        steps(folder / "rank0", records(20), rank=0, world_size=2),
        steps(folder / "rank1", records(20, 0.9, first=20), rank=1, world_size=2)), gate, TRIPPED)
    expect("1 step, allowed", ranks(2, 1, 9), gate, UNDECIDED, 0, options=("--undecided", "pass"))
    expect("slow, and nothing undecided", ranks(4, 20, 9), gate, TRIPPED, 1,
           options=("--undecided", "pass"))
    expect("slow, its steps left out", ranks(2, 20, 9), gate, UNDECIDED, options=("--steps", "3:3"))
    expect("all steps are warm-up", ranks(4, 20, 9), gate, TRIPPED, options=("--warmup", "20"))
expect("1 step, which may hide a severe straggler", ranks(2, 1, 9), "severity>=high", UNDECIDED)
expect("a step of slow loading, and too few to see a straggler", ranks(2, 1, 9), "severity>=high",
       UNDECIDED, 0, options=("--undecided", "pass"))
expect("20 steps", ranks(4, 20, 9), "severity>=med", TRIPPED)

# ---- any of several ranks ------------------------------------------------------------------------

def odd_rank(odd, usual, strange, step_count=40, rank_count=3):
    """A run of which one rank's steps have something that the others' have not."""
    def build(folder):
        for rank in range(rank_count):
            steps(folder / f"rank{rank}", ({**record, **(strange if rank == odd else usual)(record["step"])}
                                           for record in records(step_count, rank=rank)),
                  rank=rank, world_size=rank_count)
    return build


def odd_trace(odd, usual_us=900, strange_us=50):
    def build(folder):
        for rank in range(3):
            file_of(f"rank{rank}.pt.trace.json", trace_text(
                kernel_events(40, 1000, strange_us if rank == odd else usual_us),
                distributedInfo={"rank": rank, "world_size": 3, "backend": "nccl"}))(folder)
    return build


def bytes_of(alloc):
    return {"memory": {"alloc": alloc, "peak_alloc": alloc}}


for odd in (0, 1, 2, None):
    whose = "no rank" if odd is None else f"rank {odd}"
    verdict = HELD if odd is None else TRIPPED
    peaks = odd_rank(odd, lambda step: bytes_of(MIB), lambda step: bytes_of((3 << 30) if step == 7 else MIB))
    leaks = odd_rank(odd, lambda step: bytes_of(100 * MIB), lambda step: bytes_of((100 + 50 * step) * MIB))
    diverges = odd_rank(odd, lambda step: {"scalars": {"loss": 1.0}},
                        lambda step: {"scalars": {"loss": 1.0 if step < 10 else float("nan")}})
    worse = odd_rank(odd, lambda step: {"scalars": {"loss": 1.0}}, lambda step: {"scalars": {"loss": 5.0}})
    for strict in ((), ("--strict",)):
        expect(f"{whose} peaks", peaks, "memory.peak_alloc_bytes>1GiB", verdict, options=strict)
        expect(f"{whose} leaks", leaks, "MEMORY.GROWTH", verdict, options=strict)
        expect(f"{whose} leaks", leaks, "severity>=high", verdict, options=strict)
        expect(f"{whose} diverges", diverges, "CONVERGENCE.DIVERGED", verdict, options=strict)
        expect(f"{whose} diverges", diverges, "severity>=high", verdict, options=strict)
        expect(f"{whose} has a greater loss", worse, "convergence.final_loss>3", verdict, options=strict)
        expect(f"{whose} computes less", odd_trace(odd), "device_busy.busy_ns<10ms", verdict, options=strict)
    expect(f"{whose} diverges", diverges, "convergence.final_loss>3", HELD if odd is None else UNDECIDED)
    expect(f"{whose} leaks, allowed", leaks, "MEMORY.GROWTH", verdict, options=("--undecided", "pass"))
# Between two runs as in one: each rank counts, and what it did before.
for odd in (0, 1, 2, None):
    whose = "no rank" if odd is None else f"rank {odd}"
    verdict = HELD if odd is None else TRIPPED
    small, large = (lambda step: bytes_of(MIB << 10)), (lambda step: bytes_of(MIB << 11))
    one_loss, five = (lambda step: {"scalars": {"loss": 1.0}}), (lambda step: {"scalars": {"loss": 5.0}})
    leaking = lambda step: bytes_of((100 + 50 * step) * MIB)  # noqa: E731
    for name, usual, strange, gate in (
            ("doubles its memory", small, large, "memory.peak_alloc_bytes>+200MiB"),
            ("doubles its memory", small, large, "memory.peak_alloc_bytes>+50%"),
            ("doubles its memory", small, large, "memory.peak_alloc_bytes>1.5GiB"),
            ("has a greater loss", one_loss, five, "convergence.final_loss>+10%"),
            ("has a greater loss", one_loss, five, "convergence.final_loss>3"),
            ("leaks", small, leaking, "MEMORY.GROWTH"), ("leaks", small, leaking, "new-finding"),
            ("leaks", small, leaking, "severity>=high")):
        compare(f"{whose} {name}", odd_rank(None, usual, strange), odd_rank(odd, usual, strange), gate, verdict)
        compare(f"{whose} {name}, in both", odd_rank(odd, usual, strange), odd_rank(odd, usual, strange), gate,
                verdict if gate in ("memory.peak_alloc_bytes>1.5GiB", "convergence.final_loss>3") else HELD)
    compare(f"{whose} computes longer", odd_trace(None), odd_trace(odd, 900, 990), "device_busy.busy_ns>+5%",
            HELD if odd is None else TRIPPED)
    compare(f"{whose} has no memory any more", odd_rank(None, small, large), odd_rank(odd, small, lambda step: {}),
            "memory.peak_alloc_bytes>+200MiB", verdict)
compare("a rank more", odd_rank(None, small, large, rank_count=2), odd_rank(None, small, large),
        "memory.peak_alloc_bytes>+200MiB", UNDECIDED)  # of its change nothing can be known
compare("a rank less", odd_rank(None, small, large), odd_rank(None, small, large, rank_count=2),
        "memory.peak_alloc_bytes>+200MiB", HELD)
compare("a rank more, of too much memory", odd_rank(None, small, large, rank_count=2), odd_rank(2, small, large),
        "memory.peak_alloc_bytes>1.5GiB", TRIPPED)
compare("a rank more, which leaks", odd_rank(None, small, large, rank_count=2), odd_rank(2, small, leaking),
        "new-finding", TRIPPED)
# One rank may log for all.
expect("only rank 0 logs a loss", odd_rank(0, lambda step: {}, lambda step: {"scalars": {"loss": 1.0}}),
       "convergence.final_loss>3", HELD)
expect("only rank 0 logs a loss", odd_rank(0, lambda step: {}, lambda step: {"scalars": {"loss": 5.0}}),
       "convergence.final_loss>3", TRIPPED)

# ---- figures and comparisons ---------------------------------------------------------------------

EVEN = [{"step": step, "phases": {"forward": 0.06, "data": 0.04}} for step in range(12)]
even = file_of("steps.jsonl", text_of(EVEN))  # 100 ms exactly
for relation, below, equal, above in (("<", 1, 0, 0), ("<=", 1, 1, 0), (">", 0, 0, 1),
                                      (">=", 0, 1, 1), ("==", 0, 1, 0), ("!=", 1, 0, 1)):
    for bound, is_so in ((101, below), (100, equal), (99, above)):
        expect("steps of 100 ms", even, f"step_time.mean_ms{relation}{bound}",
               TRIPPED if is_so else HELD)
for gate, is_so in (("step_time.mean_us>99999", True), ("step_time.mean_us>100000", False),
                    ("step_time.mean_s>0.0999", True), ("step_time.mean_s>0.1", False),
                    ("step_time.mean_ns>99999999", True), ("step_time.mean_ns>100000000", False),
                    ("step_time.p95_ns>99ms", True), ("step_time.p95_ns>100ms", False),
                    ("step_time.p99_ms > 99.999999", True), ("step_time.p50_ns<100000.001us", True),
                    ("step_time.cv>0", False), ("step_time.count<12", False),
                    ("step_time.count<13", True), ("step_time.count==12", True)):
    expect("steps of 100 ms", even, gate, TRIPPED if is_so else HELD)
for gate in ("memory.peak_alloc_bytes>1GiB", "snapshot.peak_allocated_bytes>1", "convergence.final_loss>3",
             "overlap.exposed_comm_ratio>0.2", "device_busy.busy_ns<1", "mfu<0.3", "mfu>0.3",
             "kernels.count>0", "launches.launch_count>0", "distributed.imbalance_cv>0.1",
             "GPU.IDLE", "MEMORY.OOM", "MEMORY.GROWTH", "KERNEL.SHORT", "DIST.SKEW",
             "CONVERGENCE.DIVERGED"):
    expect("a figure that is not there", even, gate, TRIPPED)
    expect("nor does leave help", even, gate, TRIPPED, 1, options=("--undecided", "pass"))

# ---- gates that can never trip, or are none -------------------------------------------------------

for gate in ("severity>high", "severity<low", "integrity.verdict==broken", "integrity.verdict!=fine",
             "convergence.loss_trend==bad", "efficiency.flops_source==guess", "mfu<", "<3", "",
             "mfu<nan", "mfu<inf", "mfu<1e999", "mfu<0.3x", "mfu<+5%", "stragler",
             "straggler>1", "severity>=worst", "MEMORY.GROWHT", "step_time.mean_ms>5GiB",
             "integrity.verdict<sound", "new-finding", "step_change.change_ratio>0.1",
             "kernels.by_name>3", "step_time.count<0", "step_time.mean_ms<0", "steps.count<-1",
             "memory.peak_alloc_bytes<0", "step_time.mean_ns<=-1", "mfu<0", "mfu<-0.5",
             "step_time.count==-3", "straggler DIST.SKEW", "mfu<0.3 mfu<0.4",
             "step_time.phase.data_ratio>1", "overlap.exposed_comm_ratio>1", "overlap.overlap_ratio>=1.01",
             "device_busy.utilisation_ratio>100%", "snapshot.fragmentation_ratio==2", "mfu>1", "memory.fragmentation>1.5"):
    expect("no gate", even, gate, REFUSED)
for gate, verdict in (("step_time.phase.data_ratio>0.99", HELD), ("step_time.phase.forward_ratio<=1", TRIPPED),
                      ("step_time.phase.forward_ratio<1", TRIPPED), ("step_time.phase.data_ratio>=1", HELD),
                      ("step_time.phase.data_ratio==1", HELD), ("step_time.p95_p50_ratio>2", HELD)):
    expect("a gate at the edge", even, gate, verdict)

# ---- steps without a time -------------------------------------------------------------------------

GARBAGE = {"NaN": float("nan"), "negative": -0.04, "1e300": 1e300, "text": "0.04", "list": [0.04],
           "null": None, "true": True, "infinite": float("inf"), "an object": {"s": 0.04}}
for name, value in GARBAGE.items():
    bad = {"forward": 0.06, "data": value}
    for gate in ("step_time.mean_ms>60", "step_time.p99_ms>99"):
        expect(f"a phase that is {name}, in all steps",
               file_of("steps.jsonl", text_of({**r, "phases": bad} for r in EVEN)), gate, TRIPPED)
        expect(f"a phase that is {name}, once",
               file_of("steps.jsonl", text_of([{**EVEN[0], "phases": bad}] + EVEN[1:])),
               gate.replace("60", "160").replace("99", "160").replace("p160", "p99"), UNDECIDED)
        expect(f"a phase that is {name}, once, and the others are too slow",
               file_of("steps.jsonl", text_of([{**EVEN[0], "phases": bad}] + EVEN[1:])), gate,
               TRIPPED)

for name, phases in (("are 0", {"forward": 0.0, "data": 0}), ("are next to nothing", {"forward": 1e-300})):
    for gate, verdict in (("step_time.mean_ms>160", UNDECIDED), ("step_time.cv>0.5", TRIPPED), ("severity>=low", UNDECIDED)):
        expect(f"all times {name}", file_of("steps.jsonl", text_of({**r, "phases": phases} for r in EVEN)), gate, verdict)

timeless = {"no phases": {}, "empty phases": {"phases": {}}, "phases that are null": {"phases": None}}
for name, lacking in timeless.items():
    for which, left, verdict in (("every second step", lambda step: step % 2, UNDECIDED),
                                 ("one step", lambda step: step != 5, UNDECIDED),
                                 ("all steps", lambda step: False, UNDECIDED)):
        sparse = file_of("steps.jsonl", text_of(
            {**r, **bytes_of(MIB)} if left(r["step"]) else {"step": r["step"], **bytes_of(MIB), **lacking}
            for r in EVEN))
        for gate in ("step_time.mean_ms>160", "step_time.p99_ms>160", "TIMING.JITTER"):
            expect(f"{which} with {name}", sparse, gate, verdict)
        expect(f"{which} with {name}", sparse, "step_time.mean_ms>90", UNDECIDED if "all" in which else TRIPPED)
        expect(f"{which} with {name}", sparse, "severity>=low", UNDECIDED if "all" in which else TRIPPED)
        expect(f"{which} with {name}", sparse, "memory.peak_alloc_bytes>1GiB", HELD)
half = file_of("steps.jsonl", text_of({"step": step, **({"phases": {"forward": 0.1}} if step % 2 else {})}
                                      for step in range(40)))
for gate in ("severity>=low", "severity>=high"):
    expect("half of the steps have phases", half, gate, UNDECIDED)
for gate in ("new-finding", "severity>=high", "step_time.mean_ns>+5%", "TIMING.JITTER"):
    compare("half of B's steps have phases", one(count=40), half, gate, UNDECIDED)
expect("half of a rank's steps have phases", lambda folder: (
    steps(folder / "rank0", records(40), rank=0, world_size=2), steps(folder / "rank1", (
        record if step % 2 else {"step": step} for step, record in enumerate(records(40, rank=1))), rank=1,
        world_size=2)), "straggler", UNDECIDED)

# Records that never have a phase do not say that it took no time.
for phases, gate, verdict in (
        ({"forward": 0.1}, "step_time.phase.data_ratio>0.2", TRIPPED), ({"forward": 0.1}, "step_time.phase.comm_ms>5", TRIPPED),
        ({"forward": 0.1, "data": 0.0}, "step_time.phase.data_ratio>0.2", HELD),
        ({"eval": 0.1}, "TIMING.OPTIMIZER_HEAVY", UNDECIDED), ({"forward": 0.1, "optimizer": 0.0}, "TIMING.OPTIMIZER_HEAVY", HELD),
        ({"eval": 0.1}, "step_time.mean_ms>160", HELD)):
    expect(f"phases {', '.join(phases)}", file_of("steps.jsonl", text_of(
        {"step": step, "phases": phases} for step in range(20))), gate, verdict)
# Phases of several workers in one file overlap: none is the step's.
def workers(*tids):
    return file_of("trace.json", trace_text([
        {"ph": "X", "cat": "compute", "name": name, "pid": 1, "tid": tid, "ts": 1000 * step + start + 100 * tid, "dur": dur}
        for step in range(8) for tid in tids for name, start, dur in (("forward", 0, 200), ("backward", 200, 300))]))


for gate in ("budget.host.data_total_ns>5ms", "step_time.phase.comm_ratio>0.3", "TIMING.BACKWARD_HEAVY"):
    expect("two workers in one file", workers(1, 2), gate, TRIPPED)
    expect("one worker in one file", workers(1), gate, HELD)
expect("two workers in one file", workers(1, 2), "step_time.mean_ms>9", HELD)
# Marks of 1 ms every 0.6 ms: does a step take 1 ms or 0.6?
for length, verdict in ((1000, UNDECIDED), (605, HELD), (607, UNDECIDED), (600, HELD)):
    marks = file_of("trace.json", trace_text({**event, "dur": length} if event["name"].startswith("ProfilerStep") else event
                                             for event in kernel_events(12, 600, 400)))
    for gate in ("step_time.mean_us>800", "step_time.phase.compute_ratio>0.9", "budget.data_stall_total_ns>9ms", "TIMING.JITTER"):
        expect(f"marks of {length} us every 600 us", marks, gate, verdict)
    expect(f"marks of {length} us every 600 us", marks, "overlap.exposed_comm_ratio>0.5", HELD)
    expect(f"marks of {length} us every 600 us, as a trace", marks, "step_time.mean_us>800", verdict, command="trace",
           operands=("trace.json",))
# Nothing is left to judge by.
for options in (("--warmup", "12"), ("--warmup", "99")):
    for gate in ("severity>=low", "severity>=high", "step_time.cv>0.5"):
        expect("all steps are warm-up", even, gate, TRIPPED if "cv" in gate else UNDECIDED, options=options)
for count, verdict in ((1, UNDECIDED), (2, HELD)):
    for gate in ("step_time.cv>0.5", "step_time.p95_p50_ratio>2"):
        expect(f"how {count} steps vary", one(count=count), gate, verdict)
for count, verdict in ((6, UNDECIDED), (7, HELD)):
    expect(f"outliers of {count} steps", one(count=count), "step_time.spike_count>0", verdict)
compare("B has other phases", one(count=20), file_of("steps.jsonl", text_of(
    {"step": step, "phases": {"eval": 0.1 * wobble(step)}} for step in range(20))), "step_time.phase.forward_ns>+5%", TRIPPED)
for lacked, verdict in ((3, HELD), (20, UNDECIDED)):
    for gate in ("step_time.mean_ms>160", "step_time.p99_ms>160", "severity>=low", "TIMING.JITTER"):
        expect(f"rank 1 alone has {lacked} slow steps", lambda folder, lacked=lacked: (
            steps(folder / "rank0", records(40), rank=0, world_size=2),
            steps(folder / "rank1", [*records(40, rank=1), *records(lacked, 9, first=40)], rank=1, world_size=2)),
               gate, verdict)

# ---- MFU ------------------------------------------------------------------------------------------

# A step of 100 ms at a peak of 100 TFLOP/s could do 1e13 FLOPs; 60 ms of it compute.
for flops, gate, verdict in (
        (4e12, "mfu<0.35", HELD), (3e12, "mfu<0.35", TRIPPED), (6e12, "mfu<0.35", HELD),
        (7e12, "mfu<0.35", UNDECIDED), (9.9e12, "mfu<0.35", UNDECIDED), (5e13, "mfu<0.35", TRIPPED),
        (5e13, "mfu>0.35", TRIPPED), (5e13, "efficiency.achieved_tflops<1", TRIPPED),
        (5e13, "efficiency.mfu_uncapped<0.1", TRIPPED), (5e13, "step_time.mean_ms>160", HELD),
        (4e12, "efficiency.mfu_uncapped<0.4", HELD), (4e12, "efficiency.mfu_uncapped<0.41", TRIPPED),
        (5e13, "EFFICIENCY.IMPOSSIBLE_MFU", TRIPPED), (4e12, "EFFICIENCY.IMPOSSIBLE_MFU", HELD),
        (5.5e12, "EFFICIENCY.LOW_MFU", HELD), (4e12, "EFFICIENCY.LOW_MFU", TRIPPED), (1e12, "EFFICIENCY.LOW_MFU", TRIPPED)):
    expect(f"{flops:g} FLOPs", even, gate, verdict,
           options=("--flops-per-step", f"{flops:g}", "--peak-tflops", "100"))
expect("FLOPs without a peak", even, "mfu<0.35", TRIPPED, options=("--flops-per-step", "4e12"))
expect("a peak without FLOPs", even, "mfu<0.35", TRIPPED, options=("--peak-tflops", "100"))
for name, meta in (("negative FLOPs", {"flops_per_step": -4e12, "peak_flops": 1e14}),
                   ("no FLOPs", {"flops_per_step": 0, "peak_flops": 1e14}),
                   ("FLOPs that are words", {"flops_per_step": "many", "peak_flops": 1e14}),
                   ("a peak of 0", {"flops_per_step": 4e12, "peak_flops": 0}),
                   ("a negative peak", {"flops_per_step": 4e12, "peak_flops": -1e14}),
                   ("an infinite peak", {"flops_per_step": 4e12, "peak_flops": 1e999})):
    expect(name, one(meta=meta), "mfu<0.35", TRIPPED)
expect("FLOPs and peak of run.json", one(meta={"flops_per_step": 4e12, "peak_flops": 1e14}),
       "mfu<0.35", HELD)

# ---- what a run lacks -----------------------------------------------------------------------------

def nul(folder):
    steps(folder / "rank2", "\0" * 999)


def too_deep(folder):
    (folder / "1/2/3/4/5/6/7/8/9").mkdir(parents=True)


def nested(name, content):
    return lambda folder: file_of(name, content)(folder / "rank0/traces/a/b")


def dangling(folder):
    (folder / "rank2").symlink_to("nowhere")


def broken_meta(folder):
    (folder / "rank1/run.json").write_text('{"rank": 1, "world_si')


def stray_rank(folder):
    steps(folder / "rank5", records(20, rank=5), rank=5, world_size=2)


LACKS = {
    "a rank of 3 is missing": dict(count=2, world=3),
    "a rank beyond the world": dict(count=2, beside=stray_rank),
    "a link to nothing": dict(count=2, beside=dangling),
    "run.json of a rank is cut": dict(count=2, beside=broken_meta),
    "a cut trace far down": dict(count=2, beside=nested("x.pt.trace.json", trace_text()[:-700])),
    "nine bytes of gzip far down": dict(count=2, beside=nested("x.json.gz", b"\x1f\x8b\x08\0\0\0\0\0\0")),
    "an empty file": dict(count=2, beside=file_of("rank2.pt.trace.json", "")),
    "NUL bytes": dict(count=2, beside=nul),
    "a brace": dict(count=2, beside=file_of("rank2.json", "{")),
    "UTF-16": dict(count=2, beside=file_of("rank2.json", b"\xff\xfe{\0")),
    "a cut trace": dict(count=2, beside=file_of("rank2.json", trace_text()[:-700])),
    "white space": dict(count=2, beside=lambda folder: steps(folder / "rank2", "\n \n")),
    "a rank's folder without a file": dict(count=2, beside=lambda folder: (folder / "rank2").mkdir()),
    "a rank's folder without records": dict(count=2, beside=file_of("rank2/run.json", '{"rank": 2}')),
    "a folder too deep": dict(count=2, beside=too_deep),
    "unreadable metrics": dict(count=2, beside=file_of(
        "metrics.csv.gz", gzip.compress(b"step,loss\n0,1\n", mtime=0)[:15])),
    "a cut pickle": dict(count=2, beside=file_of("rank1.pickle", b"\x80\x04\x95")),
}
if not HAS_GZIP:
    del LACKS["unreadable metrics"], LACKS["nine bytes of gzip far down"]
for name, options in LACKS.items():
    lacking, slow = ranks(**options), ranks(slow=9, **options)
    for gate in ("straggler", "DIST.STRAGGLER", "distributed.imbalance_cv>0.5",
                 "step_time.mean_ms>160"):
        expect(name, lacking, gate, UNDECIDED)
        expect(name + ", strict", lacking, gate, UNDECIDED, 3, options=("--strict",))
        expect(name + ", allowed", lacking, gate, UNDECIDED, 0, options=("--undecided", "pass"))
    expect(name + ", and one is slow", slow, "step_time.mean_ms>160", TRIPPED)
    expect(name + ", and one is slow", slow, "straggler", TRIPPED)
for gate in ("step_time.mean_ms>160", "severity>=high", "TIMING.DATALOADER_BOUND", "step_time.cv>9"):
    lone = ranks(1, world=64)
    expect("one rank of 64 in a folder", lone, gate, UNDECIDED)
    expect("one rank of 64 in a folder, strict", lone, gate, UNDECIDED, options=("--strict",))
    expect("one rank of 64 in a folder, allowed", lone, gate, UNDECIDED, 0, options=("--undecided", "pass"))
    # Who names its file asks about nothing else.
    expect("one rank of 64 by its file", lone, gate, HELD, options=("--strict",), operands=("rank0/steps.jsonl",))
    expect("all of one rank", ranks(1), gate, HELD, options=("--strict",))
expect("rank 3 alone of nobody says how many", ranks(4, world=0, which=(3,)), "step_time.mean_ms>160", UNDECIDED)
expect("rank 0 alone of nobody says how many", ranks(1, world=0), "step_time.mean_ms>160", HELD)
expect("one rank of 64 in a folder, and slow", ranks(1, world=64), "step_time.mean_ms>60", TRIPPED)
expect("a trace of rank 0 in a folder", lambda folder: odd_trace(None)(folder) or [
    (folder / f"rank{rank}.pt.trace.json").unlink() for rank in (1, 2)], "device_busy.busy_ns<10ms", UNDECIDED)
expect("ranks 0 and 2 of nobody says how many", ranks(3, world=0, which=(0, 2)), "straggler",
       UNDECIDED)
expect("ranks 0 and 1 of nobody says how many", ranks(2, world=0), "straggler", HELD)
expect("a whole run, strict", ranks(2), "straggler", HELD, options=("--strict",))

# ---- damaged files --------------------------------------------------------------------------------

TRACE = trace_text()
CASES = {
    "cut": TRACE[:-700],
    "cut within a number": TRACE[:TRACE.rindex("correlation") - 40],
    "a second document": TRACE + TRACE,
}
if HAS_GZIP:
    packed = gzip.compress(TRACE.encode(), mtime=0)
    CASES["gzip, cut"] = packed[:-20]
    CASES["gzip, followed by something else"] = packed + b"junk"
    CASES["gzip, a further file behind it"] = packed + TRACE.encode()
    halves = [gzip.compress(half.encode(), mtime=0) for half in (TRACE, "\n")]
    CASES["gzip, magic of the second member damaged"] = halves[0] + b"\x1e" + halves[1][1:]
    CASES["gzip, a flipped bit"] = bytes(b ^ (i == 200) for i, b in enumerate(packed))
for name, content in (("a brace too many", TRACE + "}"), ("a padded block", TRACE + "\0" * 512),
                      ("white space", TRACE + "\n \n")):
    # Nothing is lost.
    expect("trace, " + name, file_of("t.json", content), "step_time.mean_us>5000", HELD,
           command="trace", operands=("t.json",))
    expect("trace, " + name, file_of("t.json", content), "step_time.mean_us>5000", HELD,
           command="trace", options=("--strict",), operands=("t.json",))
for name, content in CASES.items():
    for command, operand in (("trace", "t.json"), ("report", "t.json"), ("report", ".")):
        where = dict(command=command, operands=(operand,))
        expect(f"{command} {operand}, {name}", file_of("t.json", content), "step_time.mean_us>5000",
               UNDECIDED, **where)
        expect(f"{command} {operand}, {name}", file_of("t.json", content), "step_time.mean_us>500",
               TRIPPED, **where)
    expect(f"trace, {name}, strict", file_of("t.json", content), "step_time.mean_us>5000", UNDECIDED,
           3, "trace", ("--strict",), ("t.json",))
for name, content in (("empty", ""), ("NUL bytes", "\0" * 99), ("a brace", "{"), ("no JSON", "hello"),
                      ("no events", '{"traceEvents":[]}'), ("UTF-16", b"\xff\xfe{\0")):
    for command in ("trace", "report"):
        expect(f"{command}, {name}", file_of("t.json", content), "step_time.mean_us>5000", UNREADABLE,
               command=command, operands=("t.json",))
whole = file_of("t.json", TRACE)
for gate, verdict in (("step_time.mean_us>5000", HELD), ("step_time.mean_us>999", TRIPPED),
                      ("steps.count<7", TRIPPED), ("steps.count<6", HELD), ("kernels.count<6", HELD),
                      ("integrity.verdict!=sound", HELD), ("TRACE.DAMAGED", HELD),
                      ("memory.peak_alloc_bytes>1", TRIPPED), ("straggler", TRIPPED),
                      ("mfu<0.3", TRIPPED)):
    expect("trace, whole", whole, gate, verdict, command="trace", operands=("t.json",))


def comm_events(dur_us, count=40):
    """A kernel, and a collective behind it that nothing hides."""
    for step in range(1, count + 1):
        start = step * 1000
        yield {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
               "ts": start, "dur": 1000}
        for i, (name, at, dur) in enumerate((("gemm", 20, 300), ("ncclDevKernel_AllReduce", 330, dur_us))):
            yield {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                   "ts": start + 5 + i, "dur": 1, "args": {"correlation": step * 10 + i}}
            yield {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start + at, "dur": dur,
                   "args": {"correlation": step * 10 + i, "device": 0, "stream": 7}}


for gate in ("overlap.exposed_comm_ratio>0.2", "DIST.EXPOSED_COMM"):
    for dur, verdict in ((500, TRIPPED), (0, HELD), (-500, UNDECIDED), ("x", UNDECIDED), (None, UNDECIDED)):
        expect(f"trace, collectives of {dur} us", file_of("t.json", trace_text(comm_events(dur))), gate, verdict,
               command="trace", operands=("t.json",))
for command in ("trace", "report"):
    for options, exit_code in (((), 1), (("--strict",), 3), (("--undecided", "pass"), 0)):
        expect(f"{command}, --step-marker of nothing", whole, "step_time.mean_us>5000", UNDECIDED, exit_code, command,
               ("--step-marker", "nope", *options), ("t.json",))
for name, lines, verdict in (
        ("a cut last line", text_of(EVEN)[:-10], UNDECIDED),
        ("a line that is no record", text_of(EVEN[:6]) + "oops\n" + text_of(EVEN[6:]), UNDECIDED),
        ("whole", text_of(EVEN), HELD)):
    expect("step records, " + name, file_of("steps.jsonl", lines), "step_time.mean_ms>160", verdict)
    expect("step records, " + name, file_of("steps.jsonl", lines), "step_time.mean_ms>60", TRIPPED)
expect("step records, gaps in the numbers", file_of("steps.jsonl", text_of(EVEN[:4] + EVEN[8:])),
       "step_time.mean_ms>160", HELD)  # what logs each n-th step is whole

# ---- memory ---------------------------------------------------------------------------------------

def memory_of(step):
    return {"alloc": (900 + 2 * step) * MIB, "peak_alloc": (1100 + 2 * step) * MIB}


LONG = [{"step": step, "phases": EVEN[0]["phases"]} for step in range(40)]
grows = file_of("steps.jsonl", text_of({**r, "memory": memory_of(r["step"])} for r in LONG))
flat = file_of("steps.jsonl", text_of({**r, "memory": memory_of(0)} for r in LONG))
for gate, verdict in (("memory.peak_alloc_bytes>1177MiB", TRIPPED),
                      ("memory.peak_alloc_bytes>1178MiB", HELD), ("MEMORY.GROWTH", TRIPPED),
                      ("severity>=high", TRIPPED)):
    expect("memory grows", grows, gate, verdict)
expect("memory stays", flat, "MEMORY.GROWTH", HELD)
for count in (3, 12):
    for rank, memory in enumerate((memory_of, lambda step: memory_of(0))):
        expect(f"memory of {count} steps, which {'grows' if rank == 0 else 'stays'}", file_of(
            "steps.jsonl", text_of({**r, "memory": memory(r["step"])} for r in LONG[:count])),
            "MEMORY.GROWTH", UNDECIDED)
        expect(f"memory of {count} steps, which {'grows' if rank == 0 else 'stays'}", file_of(
            "steps.jsonl", text_of({"step": r["step"], "phases": {"forward": 0.1}, "memory":
                                    memory(r["step"])} for r in LONG[:count])),
            "severity>=high", UNDECIDED if rank == 0 else HELD)


for name, value in GARBAGE.items():
    bad = text_of({"step": step, "phases": {"forward": 0.1}, "scalars": {"loss": 1.0},
                   "memory": {"alloc": MIB, "peak_alloc": value if step == 5 else MIB}} for step in range(12))
    expect(f"peak of memory that is {name}, once", file_of("steps.jsonl", bad), "memory.peak_alloc_bytes>1GiB",
           HELD if value is None else UNDECIDED)
    expect(f"peak of memory that is {name}, once", file_of("steps.jsonl", bad), "step_time.mean_ms>160", HELD)
for last in (float("nan"), float("inf")):
    ends = text_of({**record, "scalars": {"loss": last if record["step"] == 11 else 1.0}} for record in EVEN)
    expect(f"a last loss of {last}", file_of("steps.jsonl", ends), "convergence.final_loss>3", UNDECIDED)
    expect(f"a last loss of {last}", file_of("steps.jsonl", ends), "CONVERGENCE.DIVERGED", TRIPPED)


def snapshot(protocol=4, live=3, **said):
    block = {"address": 4096, "size": MIB, "requested_size": MIB, "state": "active_allocated",
             "frames": []}
    segment = {"device": 0, "address": 4096, "total_size": live * MIB, "allocated_size": live * MIB,
               "active_size": live * MIB, "stream": 0, "segment_type": "large",
               "blocks": [{**block, "address": 4096 + i * MIB} for i in range(live)], **said}
    return pickle.dumps({"segments": [segment], "device_traces": [[]]}, protocol)


for protocol in (2, 4):
    data = snapshot(protocol)
    for name, content, verdict in (("whole", data, HELD), ("cut in half", data[:len(data) // 2], None),
                                   ("without its last byte", data[:-1], None), ("cut", data[:9], None)):
        where = dict(command="memory", operands=("s.pickle",))
        expect(f"memory, protocol {protocol}, {name}", file_of("s.pickle", content),
               "snapshot.allocated_bytes>4MiB", verdict or UNREADABLE, **where)
        lacking = ranks(2, beside=file_of("rank1.pickle", content))
        expect(f"snapshot beside, protocol {protocol}, {name}", lacking, "straggler",
               verdict or UNDECIDED)
expect("memory, 3 MiB", file_of("s.pickle", snapshot()), "snapshot.allocated_bytes>2MiB", TRIPPED,
       command="memory", operands=("s.pickle",))
expect("memory, one snapshot", file_of("s.pickle", snapshot()), "MEMORY.GROWTH", TRIPPED,
       command="memory", operands=("s.pickle",))
for said in ({"allocated_size": 2 * MIB}, {"active_size": 7 * MIB}, {"allocated_size": 0, "active_size": 0}):
    where = dict(command="memory", operands=("s.pickle",))
    name = "memory, whose segment says " + ", ".join(said)
    expect(name, file_of("s.pickle", snapshot(**said)), "snapshot.allocated_bytes>4MiB", UNDECIDED, **where)
    expect(name, file_of("s.pickle", snapshot(**said)), "snapshot.allocated_bytes>2MiB", UNDECIDED, **where)
    expect(name, file_of("s.pickle", snapshot(**said)), "MEMORY.FRAGMENTATION", UNDECIDED, **where)
    expect(f"snapshot beside, whose segment says {', '.join(said)}", ranks(2, beside=file_of("rank1.pickle", snapshot(**said))),
           "snapshot.allocated_bytes>4MiB", UNDECIDED)
    expect(f"snapshot beside, whose segment says {', '.join(said)}", ranks(2, beside=file_of("rank1.pickle", snapshot(**said))),
           "straggler", HELD)
expect("memory, two of which one is cut", lambda folder: (
    file_of("a.pickle", snapshot())(folder), file_of("b.pickle", snapshot()[:50])(folder)),
       "snapshot.allocated_bytes>4MiB", HELD, 3, "memory", (), ("a.pickle", "b.pickle"))

# ---- comparisons ----------------------------------------------------------------------------------

SLOWER = "step_time.mean_ns>+5%"
base = one(count=20)


def late(step):
    return 0.1 if step < 10 else 0.9


compare("the same", base, base, SLOWER, HELD)
compare("a percent of noise", base, one(count=20, rank=1), SLOWER, HELD)
compare("10 % slower", base, one(count=20, seconds=0.11, rank=1), SLOWER, TRIPPED)
compare("10 % faster", base, one(count=20, seconds=0.09, rank=1), SLOWER, HELD)
compare("half of B 9 x slower", base, one(count=20, seconds=late), SLOWER, UNDECIDED)
compare("half of B 9 x slower", base, one(count=20, seconds=late), "step_time.p50_ns>+5%", UNDECIDED)
compare("half of A 9 x slower", one(count=20, seconds=late), base, "step_time.mean_ns<-5%", UNDECIDED)
compare("half of both 9 x slower", one(count=20, seconds=late), one(count=20, seconds=late, rank=1),
        SLOWER, UNDECIDED)
compare("every second step of B 9 x slower", base,
        one(count=20, seconds=lambda step: 0.9 if step % 2 else 0.1), SLOWER, TRIPPED)
compare("one step of B 9 x slower", base,
        one(count=20, seconds=lambda step: 0.9 if step == 7 else 0.1), SLOWER, UNDECIDED)
compare("B gets 8 % slower half-way", base,
        one(count=20, seconds=lambda step: 0.1 if step < 10 else 0.108, rank=1), SLOWER, UNDECIDED)
compare("noise of 30 %", one(count=8, seconds=lambda step: 0.1 + 0.03 * (step * 5 % 7 - 3) / 3),
        one(count=8, seconds=lambda step: 0.1 + 0.03 * (step * 4 % 7 - 3) / 3), SLOWER, UNDECIDED)
compare("noise of 30 %, but 300 % would show",
        one(count=8, seconds=lambda step: 0.1 + 0.03 * (step * 5 % 7 - 3) / 3),
        one(count=8, seconds=lambda step: 0.1 + 0.03 * (step * 4 % 7 - 3) / 3),
        "step_time.mean_ns>+300%", HELD)
for count in (1, 2, 3):
    compare(f"{count} steps each", one(count=count), one(count=count, rank=1), SLOWER, UNDECIDED)
    compare(f"{count} steps each, 9 x slower", one(count=count), one(count=count, seconds=0.9),
            SLOWER, UNDECIDED)
for seconds, gate, verdict in ((0.42, SLOWER, TRIPPED), (0.42, "step_time.p50_ns>+5%", TRIPPED), (0.42, "step_time.mean_ns>+400%", HELD),
                               (0.42, "step_time.mean_ns<-5%", HELD), (0.101, SLOWER, UNDECIDED), (0.1, SLOWER, UNDECIDED)):
    compare(f"5 steps each, {seconds} s", one(count=5), one(count=5, seconds=seconds, rank=1), gate, verdict)
compare("5 steps each, of which one is slow", one(count=5), one(
    count=5, seconds=lambda step: 0.9 if step == 2 else 0.1, rank=1), SLOWER, UNDECIDED)
compare("4 steps each, 4 x slower", one(count=4), one(count=4, seconds=0.4), SLOWER, UNDECIDED)
compare("3 steps each, allowed", one(count=3), one(count=3, rank=1), SLOWER, UNDECIDED, 0,
        ("--undecided", "pass"))
compare("3 steps each, as measured", one(count=3), one(count=3, seconds=0.9), SLOWER, TRIPPED, 1,
        ("--no-significance",))
compare("memory 200 MiB more", flat, file_of("steps.jsonl", text_of(
    {**r, "memory": memory_of(100)} for r in LONG)), "memory.peak_alloc_bytes>+199MiB", TRIPPED)
compare("memory 200 MiB more", flat, file_of("steps.jsonl", text_of(
    {**r, "memory": memory_of(100)} for r in LONG)), "memory.peak_alloc_bytes>+200MiB", HELD)
compare("B without memory", flat, even, "memory.peak_alloc_bytes>+1MiB", TRIPPED)
compare("A without memory", even, flat, "memory.peak_alloc_bytes>+1MiB", TRIPPED)
compare("neither has memory", even, even, "memory.peak_alloc_bytes>+1MiB", TRIPPED)
compare("B without MFU", one(meta={"flops_per_step": 4e12, "peak_flops": 1e14}), base, "mfu<-2%",
        TRIPPED)
compare("MFU falls by 10 %", one(meta={"flops_per_step": 4e12, "peak_flops": 1e14}),
        one(seconds=0.111, meta={"flops_per_step": 4e12, "peak_flops": 1e14}), "mfu<-2%", TRIPPED)
compare("MFU stays", one(meta={"flops_per_step": 4e12, "peak_flops": 1e14}),
        one(rank=1, meta={"flops_per_step": 4e12, "peak_flops": 1e14}), "mfu<-2%", HELD)
compare("B is cut", base, lambda folder: steps(folder, text_of(records(20, rank=1))[:-20]), SLOWER,
        UNDECIDED)
compare("A is cut", lambda folder: steps(folder, text_of(records(20))[:-20]), one(rank=1), SLOWER,
        UNDECIDED)
compare("B is cut, strict", base, lambda folder: steps(folder, text_of(records(20, rank=1))[:-20]),
        SLOWER, UNDECIDED, 3, ("--strict",))
compare("B is cut, and slower", base, lambda folder: steps(
    folder, text_of(records(20, 0.2))[:-20]), SLOWER, TRIPPED)
compare("B lacks a rank", ranks(2, world=2), ranks(2, world=3), SLOWER, UNDECIDED)
compare("B lacks a rank, and is slow", ranks(2), ranks(2, world=3, slow=9), SLOWER, TRIPPED)
compare("B is one rank of 3", ranks(3), ranks(1, world=3), SLOWER, UNDECIDED)
for report_format in ("json", "baseline"):
    for gate in (SLOWER, "memory.peak_alloc_bytes>+1MiB"):
        expect(f"diff, A is one rank of 3, saved as {report_format}", lambda folder, report_format=report_format: (
            saved(ranks(1, world=3), report_format)(folder), odd_rank(None, lambda step: bytes_of(MIB), None)(folder / "c")),
            gate, UNDECIDED if gate == SLOWER else TRIPPED, command="diff", operands=("r.json", "c"))
compare("A is one rank of 3", ranks(1, world=3), ranks(3), SLOWER, UNDECIDED)
compare("both are rank 2 of 3", ranks(1, world=3, which=(2,)), ranks(1, world=3, which=(2,)), SLOWER, HELD)
compare("both are rank 0 of 3", ranks(1, world=3), ranks(1, world=3), SLOWER, HELD)
compare("B has a straggler", ranks(4), ranks(4, slow=9), "straggler", TRIPPED)
compare("B has a straggler", ranks(4), ranks(4, slow=9), "new-finding", TRIPPED)
short, over = (file_of("steps.jsonl", text_of({"step": step, "phases": {"forward": 1 - share, "optimizer": share}}
                                              for step in range(20))) for share in (0.149, 0.151))
compare("B just passes a threshold", short, over, "new-finding", TRIPPED)
compare("B is just short of a threshold", over, short, "new-finding", HELD)
compare("B has a straggler", ranks(4), ranks(4, slow=9), "severity>=high", TRIPPED)
compare("both have a straggler", ranks(4, slow=9), ranks(4, slow=9), "DIST.STRAGGLER", HELD)
compare("B has too few steps for one", ranks(4), ranks(2, 1, 9), "straggler", UNDECIDED)
compare("B has too few steps for one", ranks(4), ranks(2, 1, 9), "DIST.STRAGGLER", UNDECIDED)
compare("B has too few steps for one", ranks(2), ranks(2, 1, 9), "new-finding", TRIPPED)  # A could tell
for gate in ("severity>high", "step_time.mean_ns>5%", "step_time.mean_ns>+5x", "mfu<+", "new-finding>1"):
    compare("no gate", base, base, gate, REFUSED)
compare("B is no run", base, file_of("x.txt", "hello"), SLOWER, UNREADABLE)

# ---- reports that were saved -----------------------------------------------------------------------

def saved(build, report_format, spoil=None, ranks="all", of="run"):
    """The report of a run that is there no more, and a run to compare it with."""
    def make(folder):
        build(folder / "run")
        base(folder / "b")
        subprocess.run([os.path.abspath(sys.argv[1]), "report", "--quiet", "--ranks", ranks, "--format", report_format,
                        "--output", "r.json", of], cwd=folder, check=False, capture_output=True)
        (folder / "run").rename(folder / ".run")
        if spoil:
            (folder / "r.json").write_bytes(spoil((folder / "r.json").read_bytes()))
    return make


for report_format in ("json", "baseline"):
    for command, operands in (("report", ("r.json",)), ("diff", ("r.json", "b")), ("diff", ("b", "r.json"))):
        of_saved = f"{report_format} saved, {command} {operands[0]}"
        for name, build in (("lacking a rank", ranks(2, world=3)), ("lacking a rank in the middle", ranks(3, which=(0, 2))),
                            ("cut", lambda folder: steps(folder, text_of(records(20))[:-20])),
                            ("of NUL bytes beside", ranks(2, beside=nul)), ("too deep", ranks(2, beside=too_deep))):
            for options, exit_code in (((), 1), (("--strict",), 3), (("--undecided", "pass"), 0)):
                expect(f"{of_saved}, {name}", saved(build, report_format), "step_time.mean_ms>160", UNDECIDED,
                       exit_code, command, options, operands)
        # Of a rank alone a comparison with one of its own kind is whole.
        for gate in ("step_time.mean_ms>160", "severity>=high"):
            of_lone = f"{of_saved}, one rank of 64"
            expect(of_lone, saved(ranks(1, world=64), report_format), gate, UNDECIDED if command == "report" else HELD,
                   command=command, operands=operands)
            expect(of_lone + ", by its file", saved(ranks(1, world=64), report_format, of="run/rank0/steps.jsonl"), gate,
                   HELD, command=command, operands=operands)
        expect(f"{of_saved}, whole", saved(base, report_format), "step_time.mean_ms>160", HELD, 0, command, (), operands)
        for name, spoil in (("cut", lambda data: data[:-30]), ("half", lambda data: data[:len(data) // 2]),
                            ("twice", lambda data: data + data), ("empty", lambda data: b""),
                            ("another object", lambda data: b"{}")):
            expect(f"{of_saved}, {name}", saved(base, report_format, spoil), "step_time.mean_ms>160", UNREADABLE, 3,
                   command, (), operands)
    for name, build, gate, verdict in (
            ("2 ranks, 1 step", ranks(2, 1, 9), "straggler", UNDECIDED),
            ("2 ranks, 3 steps", ranks(2, 3), "DIST.STRAGGLER", UNDECIDED),
            ("4 ranks, one slow", ranks(4, slow=9), "DIST.STRAGGLER", TRIPPED),
            ("9.9e12 FLOPs", one(meta={"flops_per_step": 9.9e12, "peak_flops": 1e14}), "mfu<0.35", UNDECIDED),
            ("5e13 FLOPs", one(meta={"flops_per_step": 5e13, "peak_flops": 1e14}), "mfu<0.35", TRIPPED)):
        expect(f"{report_format} saved, {name}", saved(build, report_format), gate, verdict, operands=("r.json",))

def spoiled(**facts):
    """A saved report of which some facts are other ones."""
    def spoil(data):
        report = json.loads(data)
        for analyzer, others in facts.items():
            report["runs"][0]["facts"][analyzer].update(others)
        return json.dumps(report).encode()
    return spoil


for name, value, verdict in (("NaN", float("nan"), TRIPPED), ("null", None, TRIPPED), ("a text", "99", TRIPPED),
                             ("infinite", float("inf"), TRIPPED), ("negative", -5, UNDECIDED)):
    expect(f"a saved mean that is {name}", saved(base, "json", spoiled(step_time={"mean_ns": value})),
           "step_time.mean_ms>160", verdict, operands=("r.json",))
expect("a saved report without facts", saved(base, "json", lambda data: json.dumps(
    {**(report := json.loads(data)), "runs": [{**report["runs"][0], "facts": {}}]}).encode()), "severity>=low",
       UNDECIDED, operands=("r.json",))



def without_ranks(count):
    """A saved report that somebody made shorter."""
    def spoil(data):
        report = json.loads(data)
        report["runs"][0]["ranks"] = report["runs"][0]["ranks"][:count]
        return json.dumps(report).encode()
    return spoil


for count in (0, 1, 2):
    for gate, verdict in (("memory.peak_alloc_bytes>1GiB", UNDECIDED), ("severity>=high", UNDECIDED), ("straggler", HELD)):
        expect(f"a saved report shortened to {count} of 3 ranks", saved(odd_rank(None, lambda step: bytes_of(MIB), None), "json",
               without_ranks(count)), gate, verdict, operands=("r.json",))
# Of ranks that a report was saved without, what is known of all together is known.
for which in ("summary", "outliers"):
    for gate, verdict in (("memory.peak_alloc_bytes>1GiB", UNDECIDED), ("severity>=high", UNDECIDED),
                          ("straggler", HELD), ("step_time.mean_ms>160", HELD)):
        full = odd_rank(None, lambda step: bytes_of(MIB), None, rank_count=12)
        for command, operands in (("report", ("r.json",)), ("diff", ("r.json", "r.json"))):
            if command == "report" or "step_time" not in gate and gate != "straggler":
                expect(f"saved with --ranks {which}, {command}", saved(full, "json", ranks=which), gate, verdict,
                       command=command, operands=operands)

# ---- between two sides, in a history, of mapped files, in a project file, in dumps ------------------

def three(between):
    return lambda folder: (base(folder / "a"), between(folder / "b"), one(rank=1)(folder / "c"))


def cut(folder):
    steps(folder, text_of(records(20, rank=1))[:-20])


for options, exit_code in (((), 1), (("--strict",), 3), (("--undecided", "pass"), 0)):
    expect("diff of three, the second is cut", three(cut), SLOWER, UNDECIDED, exit_code, "diff", options,
           ("a", "b", "c"))
    expect("diff of three, the second lacks a rank", three(ranks(2, world=3)), SLOWER, UNDECIDED, exit_code,
           "diff", options, ("a", "b", "c"))
expect("diff of three", three(one(rank=2)), SLOWER, HELD, 0, "diff", ("--strict",), ("a", "b", "c"))


def line(run, milliseconds):
    return json.dumps({"run": str(run), "fact": "step_time.mean_ns", "value": milliseconds * 1000000}) + "\n"


TREND = "step_time.mean_ns>+3% of trend"
LINES = [line(run, 100 + 0.1 * (run * 7 % 5 - 2)) for run in range(12)]
for name, lines, verdict in (("as usual", LINES, HELD), ("slow", LINES + [line(99, 130)], TRIPPED),
                             ("too few", LINES[:2], UNDECIDED), ("nothing before", LINES[:1], UNDECIDED),
                             ("a line that is cut", LINES[:5] + [LINES[5][:20] + "\n"] + LINES[6:], UNDECIDED),
                             ("the end is cut", LINES + [line(99, 100)[:-9]], UNDECIDED),
                             ("slow, and a line is cut", LINES[1:] + ["{\n", line(99, 130)], TRIPPED)):
    for options in ((), ("--strict",)):
        is_cut = "cut" in name and options
        expect("trend, " + name, file_of("h.jsonl", "".join(lines)), TREND, verdict, 3 if is_cut else None, "trend",
               options, ("h.jsonl",))


for gate, verdict in (("severity>=low", UNDECIDED), ("new-finding", UNDECIDED), ("step_time.mean_ms>160", HELD)):
    expect("trend, lines hold no findings", file_of("h.jsonl", "".join(LINES)), gate, verdict, command="trend",
           operands=("h.jsonl",))
expect("trend, the last is below 0", file_of("h.jsonl", "".join(LINES) + line(99, -5)), TREND, UNDECIDED,
       command="trend", operands=("h.jsonl",))
for gate, verdict in (("memory.peak_alloc_bytes>+10% of trend", UNDECIDED), ("memory.peak_alloc_bytes>1.5GiB", TRIPPED),
                      ("step_time.mean_ns>+10% of trend", HELD)):
    expect("trend, rank 1 of the last doubles its memory", lambda folder: [odd_rank(
        1 if run == 7 else None, lambda step: bytes_of(MIB << 10), lambda step: bytes_of(MIB << 11))(folder / f"r{run}")
        for run in range(8)], gate, verdict, command="trend", operands=[f"r{run}" for run in range(8)])


def lines_and_runs(folder):
    file_of("h.jsonl", "".join(LINES[:6]) + "oops\n")(folder)
    base(folder / "a")


for count in (1, 30):
    expect(f"trend, a line is no figure, and {count} runs", lines_and_runs, TREND, UNDECIDED, None, "trend", (),
           ("h.jsonl", *("a",) * count))
    expect(f"trend, a line is no figure, and {count} runs, strict", lines_and_runs, TREND, UNDECIDED, 3, "trend",
           ("--strict",), ("h.jsonl", *("a",) * count))
expect("trend, the newest run is cut", lambda folder: (lines_and_runs(folder), cut(folder / "b")), TREND, UNDECIDED,
       None, "trend", (), (*("a",) * 8, "b"))


def expect_mapped(*arguments, **options):
    """Mapped files are packed with zstd."""
    if HAS_ZSTD:
        expect(*arguments, operands=("maps",), **options)


def mapped(build, spoil=None):
    """The files of tscope map, of a run that is there no more."""
    def make(folder):
        build(folder / "run")
        subprocess.run([os.path.abspath(sys.argv[1]), "map", "--quiet", "--out", "maps", "run"], cwd=folder,
                       check=False, capture_output=True)
        (folder / "run").rename(folder / ".run")
        for path in sorted((folder / "maps").iterdir())[-1:]:
            path.write_bytes(spoil(path.read_bytes()) if spoil else path.read_bytes())
    return make


for gate, verdict in (("straggler", HELD), ("step_time.mean_ms>160", HELD), ("step_time.mean_ms>60", TRIPPED)):
    expect_mapped("mapped", mapped(ranks(3)), gate, verdict, options=("--strict",))
expect_mapped("mapped, one rank of 3", mapped(ranks(1, world=3)), "step_time.mean_ms>160", UNDECIDED)
expect_mapped("mapped, one is slow", mapped(ranks(3, slow=9)), "straggler", TRIPPED)
for name, build in (("a rank of 3 is missing", mapped(ranks(2, world=3))),
                    ("its steps are cut", mapped(lambda folder: (ranks(2)(folder), cut(folder / "rank1")))),
                    ("NUL bytes", mapped(lambda folder: (ranks(2)(folder), nul(folder)))),
                    ("cut", mapped(ranks(3), lambda data: data[:-30])),
                    ("a flipped bit", mapped(ranks(3), lambda data: data[:-99] + bytes([data[-99] ^ 1]) + data[-98:])),
                    ("empty", mapped(ranks(3), lambda data: b""))):
    for options, exit_code in (((), 1), (("--strict",), 3), (("--undecided", "pass"), 0)):
        expect_mapped("mapped, " + name, build, "step_time.mean_ms>160", UNDECIDED, exit_code, options=options)


def project(text, build):
    return lambda folder: (build(folder), file_of(".tscope.yaml", text)(folder))


if HAS_YAML:
    TWO = ranks(2, step_count=1)
    expect("project file allows undecided ones", project("report:\n  undecided: pass\n", TWO), "straggler",
           UNDECIDED, 0)
    expect("project file is strict", project("report:\n  strict: true\n", ranks(2, world=3)), "straggler",
           UNDECIDED, 3)
    for name, text in (("cut", "report: [\n"), ("of an unknown option", "report:\n  fail_on: mfu<1\n"),
                       ("with a gate that cannot trip", "report:\n  fail-on: severity>high\n"),
                       ("of NUL bytes", "\0" * 9), ("in UTF-16", "report:".encode("utf-16"))):
        expect("project file, " + name, project(text, even), "step_time.mean_ms>160", REFUSED)

# ---- running --------------------------------------------------------------------------------------

def gates_of(value):
    """All gates of a report in JSON, of one input or several."""
    if isinstance(value, list):
        return [gate for item in value for gate in gates_of(item)]
    if not isinstance(value, dict):
        return []
    return value.get("gates", []) + [gate for key, item in value.items() if key != "gates"
                                     for gate in gates_of(item)]


def verdict_of(text):
    """The worst verdict of the gates of a report in JSON."""
    return max((HELD if gate["held"] else UNDECIDED if gate["inconclusive"] else TRIPPED
                for gate in gates_of(json.loads(text))), key=[HELD, UNDECIDED, TRIPPED].index)


def run(program, folder, situation):
    """Verdict, exit code and what was said of it."""
    _, build, gate, _, _, command, options, operands = situation
    folder.mkdir()
    build(folder)
    done = subprocess.run([program, command, "--format", "json", *options, "--fail-on", gate,
                           *operands], cwd=folder, capture_output=True, text=True, check=False,
                          timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8"})
    said = done.stderr.strip()
    if not done.stdout:
        return {2: REFUSED, 3: UNREADABLE}.get(done.returncode, "no report"), done.returncode, said
    found = done.stdout.find('"gates"')
    return verdict_of(done.stdout), done.returncode, said or done.stdout[found:found + 300]


def main():
    program = os.path.abspath(sys.argv[1])
    chosen = [s for s in situations if not sys.argv[2:] or any(w in s[0] for w in sys.argv[2:])]
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        for number, situation in enumerate(chosen):
            verdict, code, said = run(program, pathlib.Path(place) / str(number), situation)
            odd = re.search(r"\brank ([1-9]) (?!are)", situation[0].split(":")[0])
            is_named = not odd or situation[3] != TRIPPED or f"rank {odd[1]}: " in said
            if (verdict, code) == situation[3:5] and is_named:
                continue
            wrong += 1
            print(f"{situation[0]}\n\tis {verdict}, exit {code}; expected {situation[3]}, exit "
                  f"{situation[4]}{'' if is_named else ', and the rank named'}\n\t{said}")
    print(f"{len(chosen)} situations, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
