# SPDX-License-Identifier: MIT
"""The run of this folder that left files about memory: two ranks with a trace, a snapshot and
statistics each. make.py writes them; README.md works the figures out."""
import make_memory
import make_memory_files
import make_snapshot
from cuda_allocator import ALL, MIB

PROCESS, MAIN, STREAM = 4242, 101, 7
FIRST_STEP, STEP_US, ACTIVATIONS_MIB = 5, 1200, (24, 24, 32, 24)
BUILD_US = 1000  # when the first weight comes
STEPS_US = BUILD_US + 4 * 250
CAPACITY = 940 * MIB  # 300 of them are not for tensors


def program(has_oom):
    """4 weights of 32 MiB, then in each step 4 activations that come every 250 us and go every
    50. has_oom: the last step asks for 512 MiB before they go."""
    job = make_memory.Job()
    job.operations.append(("tick", BUILD_US))
    for _ in range(4):
        job.alloc(32 * MIB, make_memory.BUILD, "parameter")
    for step, size in enumerate(ACTIVATIONS_MIB):
        saved = [job.alloc(size * MIB, make_memory.FORWARD, "activation") for _ in range(4)]
        if has_oom and step + 1 == len(ACTIVATIONS_MIB):
            job.alloc(512 * MIB, make_memory.GATHER, "buffer")
        for number in saved:
            job.free(number)
    return job


def memory_events(run):
    """What the profiler writes for the entries of the allocator's history."""
    allocated = reserved = 0
    for entry in run.devices[0].log:
        sign = {"alloc": 1, "segment_alloc": 1, "free_completed": -1, "segment_free": -1}.get(
            entry.action, 0)
        if entry.action.startswith("segment"):
            reserved += sign * entry.size
        elif sign:
            allocated += sign * entry.size
        if entry.action == "oom" or sign and not entry.action.startswith("segment"):
            args = {"Total Reserved": reserved, "Total Allocated": allocated,
                    "Bytes": sign * entry.size if sign else entry.size, "Device Id": 0,
                    "Device Type": 1}
            if sign:
                args["Addr"] = entry.addr
            yield {"ph": "i", "s": "t", "cat": "cpu_instant_event",
                   "name": "[memory]" if sign else "[OutOfMemory]", "pid": PROCESS, "tid": MAIN,
                   "ts": entry.time_us - make_snapshot.START_US, "args": args}


def step_events(number, at):
    def span(kind, name, start, length, **args):
        on_device = kind == "kernel"
        return {"ph": "X", "cat": kind, "name": name, "pid": 0 if on_device else PROCESS,
                "tid": STREAM if on_device else MAIN, "ts": at + start, "dur": length,
                "args": args}
    yield span("user_annotation", f"ProfilerStep#{number}", 0, STEP_US)
    yield span("cpu_op", "aten::mm", 300, 100)
    yield span("cuda_runtime", "cudaLaunchKernel", 320, 10, correlation=number)
    yield span("kernel", "sgemm_128x64_tn", 400, 600, device=0, stream=STREAM, correlation=number)


def trace(run, rank, document):
    events = [event for index in range(len(ACTIVATIONS_MIB))
              for event in step_events(FIRST_STEP + index, STEPS_US + index * STEP_US)]
    return document([*events, *memory_events(run)], {
        "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
        "profile_memory": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
        "baseTimeNanoseconds": make_snapshot.START_US * 1000})


def statistics(rank):
    """Two calls; rank 1 has what failed in it."""
    made = {f"{rank}.training_step.{iteration}.{context}": {
        "allocated_bytes.all.current": 128 * MIB,
        "allocated_bytes.all.peak": (224 + 32 * iteration) * MIB,
        "num_ooms": rank * iteration}
        for iteration in range(2) for context in ("start", "end")}
    return make_memory_files.yaml_text(made)


def files(document):
    """{name: bytes}; document(events, head) prints a trace."""
    made = {}
    for rank in range(2):
        run = make_memory.run(program(rank == 1), CAPACITY)
        name = "rank1_oom_snapshot" if rank else "rank0_memory_snapshot"
        made[f"run_memory/rank{rank}/trace.json"] = trace(run, rank, document).encode()
        made[f"run_memory/rank{rank}/{name}.pickle"] = make_memory.pickled(run)
        made[f"run_memory/rank_{rank}_memory_stats.yaml"] = statistics(rank).encode()
    return made
