#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns the timeline of ByteDance's StragglerAnalysis (one file, all ranks of a pipeline, one span
for each compute and transfer) into a trace for each rank like those of torch.profiler.

usage: convert_straggler_timeline.py TIMELINE.json[.gz] FOLDER

- Ranks are numbered as Megatron does: stage * (data-parallel size) + data-parallel rank.
- Steps follow one another without the gaps between those that were recorded. A step lasts from the
  first to the last span of any rank, as the publisher counts, and 5 us: a barrier ends it.
- In the timeline a transfer starts when its last member is ready, on all members. Here each member
  starts when it is ready itself, as NCCL's kernels do: where what it did before ended, and later by
  the delay that the last member has there.
- Spans were timed one by one, so that a compute seems to start up to 20 us before the transfer ends
  for which it waits. Here this ends earlier.
- Sends and receives have a stream for each direction. Sizes are not in the timeline: they are made
  up, equal for all transfers of a kind, but that the first and the last stage have an embedding
  more.
- The host launches far ahead, but where something starts more than 20 us after all that it waits for:
  it was launched late. Garbage collection is left out: it took no time.
"""
import collections
import gzip
import json
import pathlib
import sys

from kineto_rank import Group, KERNELS, Trace, collective_args

US = 1_000
ACTIVATION, GRADIENT, NORM = 16_777_216, 268_435_456, 1
EMBEDDING = 33_554_432
BARRIER_NS, FIRST_NS = 5 * US, 6 * US
SLOP_NS = 20 * US  # two clocks' difference in one span
COMPUTE_STREAM = 7
# Name in the timeline: stream, name of the collective, elements of a member, group.
TRANSFERS = {
    "forward-send": (20, "send", ACTIVATION, "next"),
    "forward-recv": (24, "recv", ACTIVATION, "previous"),
    "backward-send": (28, "send", ACTIVATION, "previous"),
    "backward-recv": (32, "recv", ACTIVATION, "next"),
    "params-all-gather": (36, "_allgather_base", GRADIENT, "dp"),
    "grads-reduce-scatter": (36, "_reduce_scatter_base", GRADIENT, "dp"),
    "layernorm-grads-all-reduce": (36, "allreduce", NORM, "tp"),
    "embedding-grads-all-reduce": (36, "allreduce", GRADIENT, "embedding"),
    "optimizer-clip-main-grad": (36, "allreduce", NORM, "world"),
    "barrier": (36, "barrier", NORM, "world"),
}
COMPUTE = {
    "forward-compute": "transformer_forward_kernel",
    "backward-compute": "transformer_backward_kernel",
    "optimizer": "multi_tensor_apply_kernel_adam",
}


class Span:
    """A row of the timeline, in ns since the begin of its step."""

    def __init__(self, rank, name, start, end, order):
        self.rank, self.name, self.start, self.end, self.order = rank, name, start, end, order
        self.ready = start
        self.is_late = False


def read(path):
    """Spans by step, (data-parallel size, stages)."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path) as file:
        rows = json.load(file)
    stages = {(row["pid"], row["tid"]): int(row["args"]["name"].split()[2].rstrip(","))
              for row in rows if row["name"] == "thread_name"}
    dp_size = len({row["pid"] for row in rows})
    steps = collections.defaultdict(list)
    for row in rows:
        if row["ph"] == "X" and row["name"] != "gc":
            steps[row["args"]["step"]].append((row, stages[row["pid"], row["tid"]]))
    return steps, dp_size, max(stages.values()) + 1


class Job:
    """Who is in which group."""

    def __init__(self, dp_size, stage_count):
        self.dp_size, self.stage_count = dp_size, stage_count
        self.world_size = dp_size * stage_count
        self.world = Group("0", "default_pg", range(self.world_size))

    def rank(self, stage, dp):
        return stage * self.dp_size + dp

    def group(self, rank, kind):
        stage, dp = divmod(rank, self.dp_size)
        other = {"next": stage + 1, "previous": stage - 1}.get(kind)
        if other is not None:
            pair = sorted((rank, self.rank(other, dp)))
            return Group(f"pp{pair[0]}_{pair[1]}", "PIPELINE", pair)
        if kind == "dp":
            ranks = [self.rank(stage, each) for each in range(self.dp_size)]
            return Group(f"dp{stage}", "DATA_PARALLEL_GROUP", ranks)
        if kind == "tp":
            return Group(f"tp{rank}", "TENSOR_MODEL_PARALLEL_GROUP", [rank])
        if kind == "embedding":
            return Group(f"embd{dp}", "EMBEDDING_GROUP",
                         [self.rank(0, dp), self.rank(self.stage_count - 1, dp)])
        return self.world

    def groups(self, rank):
        kinds = ["world", "dp", "tp"]
        stage = rank // self.dp_size
        kinds += ["embedding"] if stage in (0, self.stage_count - 1) else []
        kinds += ["previous"] if stage > 0 else []
        kinds += ["next"] if stage < self.stage_count - 1 else []
        return [self.group(rank, kind) for kind in kinds]


def spans_of(rows, job):
    """The spans of a step and its length."""
    origin = min(row["ts"] for row, _ in rows)
    end = round(1000 * (max(row["ts"] + row["dur"] for row, _ in rows) - origin))
    spans = []
    for row, stage in rows:
        start = round(1000 * (row["ts"] - origin))
        spans.append(Span(job.rank(stage, row["pid"]), row["name"], max(start, FIRST_NS),
                          start + round(1000 * row["dur"]), row["args"]["seq_id"]))
    spans += [Span(rank, "barrier", end, end + BARRIER_NS, 0) for rank in range(job.world_size)]
    return spans, end + BARRIER_NS


def key_of(span, job):
    """Equal for the members of one transfer."""
    _, name, _, kind = TRANSFERS[span.name]
    group = job.group(span.rank, kind)
    if name in ("send", "recv"):
        return group.name, span.name.split("-")[0], span.order
    return group.name, span.name, span.order


def end_before_computes(mine):
    """What a compute waited for ends before it."""
    for compute in (span for span in mine if span.name in COMPUTE):
        for span in mine:
            if span.name in TRANSFERS and span.start < compute.start < span.end <= \
                    compute.start + SLOP_NS:
                span.end = compute.start


def find_ready(spans, job):
    """When each member of a transfer was ready: after what its rank did before."""
    by_rank = collections.defaultdict(list)
    for span in spans:
        by_rank[span.rank].append(span)
    members = collections.defaultdict(list)
    for mine in by_rank.values():
        end_before_computes(mine)
        for span in mine:
            ends = [other.end for other in mine if other.end <= span.start + SLOP_NS]
            span.ready = min(max(ends, default=FIRST_NS), span.start)
            key = key_of(span, job) if span.name in TRANSFERS else (span.rank, span.start)
            members[key].append(span)
    for same in members.values():
        delay = min(span.start for span in same) - max(span.ready for span in same)
        for span in same:
            span.is_late = delay > SLOP_NS
            span.ready = min(span.ready + max(delay, 0), span.start)


def transfer_args(span, job, sequences):
    _, name, count, kind = TRANSFERS[span.name]
    group = job.group(span.rank, kind)
    size = len(group.ranks)
    if kind == "dp" and span.rank // job.dp_size in (0, job.stage_count - 1):
        count += EMBEDDING
    sequences[span.rank, group.name] += 1
    more = {"Seq": sequences[span.rank, group.name]}
    if name in ("send", "recv"):
        peer = sum(group.ranks) - span.rank
        ends = (span.rank, peer) if name == "send" else (peer, span.rank)
        more["Src Rank"], more["Dst Rank"] = ends
        del more["Seq"]
    total_in = count // size * size if name == "_reduce_scatter_base" else count
    outs = {"_allgather_base": count * size, "_reduce_scatter_base": count // size}
    return collective_args(name, group, total_in, outs.get(name, count), **more)


def write_step(traces, spans, job, origin, sequences):
    launched = collections.defaultdict(int)
    for span in sorted(spans, key=lambda span: (span.ready, span.order, span.name)):
        trace = traces[span.rank]
        call = max(launched[span.rank] + 300, US)
        if span.is_late or call > span.ready - 2 * US:
            call = span.ready - 2 * US
        launched[span.rank] = call
        call += origin
        if span.name in COMPUTE:
            tid = trace.AUTOGRAD if span.name == "backward-compute" else trace.MAIN
            trace.span(span.name, call - 200, call + 100, tid, "cpu_op")
            correlation = trace.call("cudaLaunchKernel", call, call + 100, tid)
            trace.device_event("kernel", COMPUTE[span.name], origin + span.start, origin + span.end,
                               COMPUTE_STREAM, correlation)
            continue
        args = transfer_args(span, job, sequences)
        stream, name, _, _ = TRANSFERS[span.name]
        trace.span("record_param_comms", call - 200, call + 100, cat="cpu_op", **args)
        trace.device_event("kernel", KERNELS[name], origin + span.ready, origin + span.end, stream,
                           trace.call("cudaLaunchKernelExC", call, call + 100), **args)


def convert(source, folder):
    steps, dp_size, stage_count = read(source)
    job = Job(dp_size, stage_count)
    traces = [Trace(rank, job.world_size, job.groups(rank)) for rank in range(job.world_size)]
    origin, sequences = 1_000_000 * US, collections.defaultdict(int)
    for number, rows in sorted(steps.items()):
        spans, length = spans_of(rows, job)
        find_ready(spans, job)
        write_step(traces, spans, job, origin, sequences)
        for trace in traces:
            trace.call("cudaDeviceSynchronize", origin + length - 5 * US, origin + length - US)
            trace.span(f"ProfilerStep#{number}", origin, origin + length)
        origin += length
    folder.mkdir(parents=True, exist_ok=True)
    for trace in traces:
        trace.write(folder / f"rank{trace.rank}.pt.trace.json")


if __name__ == "__main__":
    convert(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
