#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of all ranks of a training job, like those of torch.profiler, and what is true of them,
from the simulation that the events are written from. The same options give the same bytes.

usage: make_ranks.py FOLDER [--ranks N] [--plan PLAN] [--fault FAULT] … (--help tells all)

Writes FOLDER/rank<r>.pt.trace.json and FOLDER/truth.json:
  step_ns                       mean step
  no_fault_step_ns              the same job with the same random numbers without the fault,
  ideal_overlap_step_ns         where devices wait for collectives at the end of a step only,
  ideal_network_step_ns         where transfers take no time,
  no_data_stall_step_ns         where loaders take none
  ranks[]                       by rank: clock against the lowest rank's in the middle of the run,
                                its drift; compute of a step, exposed communication divided into
                                waiting and transfer; wait_ns and transfer_ns: sums over the
                                synchronising collectives that all ranks written have, where
                                transfer is the shortest duration (moving_ns: from when the last
                                member was ready, which a trace does not tell)
  kinds                         the same sums by kind of collective
  groups[]                      process groups that two or more of the ranks written are in, and
                                how many of their collectives match, do not, or are missing on some
                                rank (of those that all their profilers could see)
  pipeline, experts             what plans with these amount to
"""
import argparse
import collections
import json
import pathlib
import random

from kineto_rank import BASE_NS, KERNELS, Group, Trace
from rank_schedule import PLANS, US, Job
from rank_simulation import FAULTS, LAUNCH_NS, Simulation, World, changed

ORIGIN_NS = 20_000_000_000
BASE_STEP_NS = 7_889_238 * 10**9
COMPUTE_STREAM, FIRST_COMM_STREAM = 7, 20
MS = 1000 * US
KINDS = {"allreduce": "all_reduce", "_allgather_base": "all_gather",
         "_reduce_scatter_base": "reduce_scatter", "all_to_allv": "all_to_all",
         "broadcast": "broadcast", "send": "send_recv", "recv": "send_recv", "barrier": "barrier"}
BACKWARD_NODE = "autograd::engine::evaluate_function: "
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
OLD_KERNELS = {"allreduce": "ncclKernel_AllReduce_RING_LL_Sum_bf16(ncclWorkElem)",
               "broadcast": "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)",
               "_allgather_base": "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)",
               "_reduce_scatter_base": "ncclKernel_ReduceScatter_RING_LL_Sum_bf16(ncclWorkElem)"}
DAMAGES = ("none", "lost", "mismatch")
METADATA = ("full", "no_seq", "none")


class Set:
    """A set of traces: the simulation, and how it was looked at."""

    def __init__(self, options):
        self.options = options
        self.job = Job(options.plan, options.ranks, options.tensor, options.stages,
                       options.microbatches, options.chunks, options.layers, options.buckets,
                       options.overlap, options.comm_fraction, options.expert_skew,
                       options.broadcast, options.seed)
        self.world = World(options.seed, options.steps, options.kernel_noise, options.step_noise,
                           options.end_noise_ns, options.spread, options.hiccups,
                           options.checkpoint_steps, options.fault, options.fault_rank,
                           options.fault_size, options.fault_group)
        self.simulation = Simulation(self.job, self.world)
        self.written = [rank for rank in range(options.ranks) if rank not in options.missing]
        self.rng = random.Random(f"{options.seed}/look")
        self.middle = max(rank.steps[-1][1] for rank in self.simulation.ranks) // 2
        self.clocks = [self.draw_clock() for _ in range(options.ranks)]
        self.windows = [self.draw_window(rank) for rank in self.simulation.ranks]
        self.damaged = self.draw_damage()

    def draw_clock(self):
        most = round(self.options.clock_ms * MS)
        return (self.rng.randint(-most, most),
                self.rng.uniform(-1, 1) * self.options.drift_ppm * 1e-6)

    def clock(self, rank):
        offset, drift = self.clocks[rank]
        return lambda time: (ORIGIN_NS + time + offset + round(drift * (time - self.middle)))

    def draw_window(self, rank):
        """Which steps the profiler of a rank saw."""
        if not self.options.windows:
            return 0, len(rank.steps) - 1
        return self.rng.randrange(4), len(rank.steps) - 1 - self.rng.randrange(4)

    def window_ns(self, rank):
        first, last = self.windows[rank]
        steps = self.simulation.ranks[rank].steps
        return steps[first][0], steps[last][1]

    def draw_damage(self):
        """A collective that one rank has not, or has otherwise: (rank, instance)."""
        if self.options.damage == "none":
            return None
        rank = self.simulation.ranks[self.written[len(self.written) // 2]]
        return rank.number, rank.instances[len(rank.instances) // 2]

    def is_damaged(self, rank, instance):
        return self.damaged == (rank, instance)

    def is_in_window(self, rank, instance):
        start, end = self.window_ns(rank)
        return start <= instance.begins[rank] < end

    def is_lost(self, rank, instance):
        return self.options.damage == "lost" and self.is_damaged(rank, instance)

    # ---- names of groups ----

    def group_of(self, rank, group):
        """The group as this rank calls it."""
        if not self.options.names_differ or group is self.job.world:
            return group
        names = sorted({transfer.group.name
                        for instance in self.simulation.ranks[rank].instances
                        for transfer in [instance.transfers[rank]]})
        return Group(str(1 + rank % 3 + names.index(group.name)), group.description, group.ranks)

    def groups_of(self, rank):
        groups = {self.job.world.name: self.job.world}
        for instance in self.simulation.ranks[rank].instances:
            group = instance.transfers[rank].group
            if group.name not in groups:
                groups[group.name] = self.group_of(rank, group)
        return groups

    # ---- traces ----

    def trace_of(self, rank):
        options = self.options
        groups = self.groups_of(rank.number)
        base = BASE_NS - (BASE_STEP_NS if options.two_bases and rank.number % 2 else 0)
        host = f"node{rank.number // options.host_ranks}" if options.host_ranks else None
        says = () if options.metadata == "none" else list(groups.values())
        trace = Trace(rank.number, options.ranks, says, host, base)
        trace.is_old = options.whole_us
        self.put_steps(trace, rank)
        larger = self.simulation.is_faulty(rank, "larger_work")
        for _, kernel, launch, start, end in rank.kernels:
            tid = trace.AUTOGRAD if kernel.is_backward else trace.MAIN
            name = BACKWARD_NODE + kernel.operator if kernel.is_backward else kernel.operator
            call = self.put_call(trace, "cudaLaunchKernel", name, launch, tid)
            trace.device_event("kernel", kernel.name, start, end, COMPUTE_STREAM, call,
                               grid=[round(kernel.blocks * (1 + larger * options.fault_size)),
                                     1, 1], block=[256, 1, 1])
        self.put_transfers(trace, rank, groups)
        return trace

    def put_call(self, trace, name, operator, launch, tid, **args):
        if not self.options.compact:
            trace.span(operator, launch - 2 * US, launch + LAUNCH_NS + US, tid, "cpu_op", **args)
        return trace.call(name, launch, launch + LAUNCH_NS, tid)

    def put_steps(self, trace, rank):
        for number, (start, end, loaded) in enumerate(rank.steps, self.options.first_step):
            trace.span(f"ProfilerStep#{number}", start, end)
            trace.span(LOADER, start, loaded)
        for start, end in rank.synchronises:
            trace.span("aten::item", start - US, end + US, cat="cpu_op")
            trace.call("cudaStreamSynchronize", start, end)

    def put_transfers(self, trace, rank, groups):
        sequences, streams = collections.Counter(), {}
        for instance in rank.instances:
            transfer = instance.transfers[rank.number]
            group = transfer.group
            sequences[group.name] += 1
            stream = FIRST_COMM_STREAM + 4 * streams.setdefault(transfer.stream_key(), len(streams))
            if self.options.damage == "lost" and self.is_damaged(rank.number, instance):
                continue
            args = self.args_of(rank.number, instance, groups[group.name])
            if args and self.options.metadata == "full" and not transfer.is_point_to_point():
                args["Seq"] = sequences[group.name]
            call = self.put_call(trace, "cudaLaunchKernelExC",
                                 "record_param_comms" if args else "c10d::allreduce_",
                                 instance.calls[rank.number], trace.MAIN, **args)
            names = KERNELS if args else OLD_KERNELS
            trace.device_event("kernel", names[transfer.name], instance.begins[rank.number],
                               instance.ends[rank.number], stream, call,
                               **{"grid": [24, 1, 1], "block": [512, 1, 1], **args})

    def args_of(self, rank, instance, group):
        if self.options.metadata == "none":
            return {}
        args = instance.transfers[rank].args()
        args["Process Group Name"] = group.name
        if self.options.damage == "mismatch" and self.is_damaged(rank, instance):
            args["In msg nelems"] += 8
            args["Out msg nelems"] += 8
        return args

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for number in self.written:
            trace = self.trace_of(self.simulation.ranks[number])
            trace.write(folder / f"rank{number}.pt.trace.json", self.clock(number),
                        self.window_ns(number))


# ---- truth ----

class Truth:
    """What is true of a set."""

    def __init__(self, made):
        self.made, self.options = made, made.options
        self.sums = {rank: collections.Counter() for rank in made.written}
        self.kinds = collections.defaultdict(collections.Counter)
        self.groups = {}
        seen = set()
        for rank in made.simulation.ranks:
            for instance in rank.instances:
                if id(instance) not in seen:
                    seen.add(id(instance))
                    self.add_instance(instance)

    def add_instance(self, instance):
        transfer = next(iter(instance.transfers.values()))
        members = [rank for rank in transfer.group.ranks if rank in self.sums]
        if len(members) < 2:
            return
        group = self.groups.setdefault(transfer.group.name, {
            "description": transfer.group.description, "ranks": transfer.group.ranks,
            "matched": 0, "mismatched": 0, "missing": 0})
        if not all(self.made.is_in_window(rank, instance) for rank in members):
            return
        if any(self.made.is_lost(rank, instance) for rank in members):
            group["missing"] += 1
        elif self.options.damage == "mismatch" and instance is self.made.damaged[1]:
            group["mismatched"] += 1
        else:
            group["matched"] += 1
            if transfer.is_synchronising():
                self.add_waits(instance, KINDS[transfer.name], members)

    def add_waits(self, instance, kind, members):
        durations = {rank: self.duration(rank, instance) for rank in members}
        least = min(durations.values())
        for rank, duration in durations.items():
            sums = self.sums[rank]
            sums["wait_ns"] += duration - least
            sums["transfer_ns"] += least
            sums["moving_ns"] += instance.transfer_ns
            sums["count"] += 1
            self.kinds[kind]["wait_ns"] += duration - least
            self.kinds[kind]["transfer_ns"] += least

    def duration(self, rank, instance):
        clock = self.made.clock(rank)
        duration = clock(instance.ends[rank]) - clock(instance.begins[rank])
        return duration // 1000 * 1000 if self.options.whole_us else duration

    def exposed(self, rank):
        """Waiting and transfer of collectives while no kernel computes, all steps."""
        edges = []
        for _, _, _, start, end in rank.kernels:
            edges += [(start, 0, 1), (end, 0, -1)]
        for instance in rank.instances:
            if not instance.transfers[rank.number].is_synchronising():
                continue
            begin, end = instance.begins[rank.number], instance.ends[rank.number]
            moving = max(begin, instance.moving_ns)
            edges += [(begin, 1, 1), (moving, 1, -1), (moving, 2, 1), (end, 2, -1)]
        running, sums, before = [0, 0, 0], [0, 0], 0
        for time, kind, change in sorted(edges):
            if not running[0] and (running[1] or running[2]):
                sums[1 if running[2] else 0] += time - before
            running[kind] += change
            before = time
        return sums

    def tied(self):
        """Ranks that chains of collectives connect with the first one."""
        tied = {self.made.written[0]}
        groups = [set(group["ranks"]) for group in self.groups.values()
                  if group["matched"] and group["description"] != "PIPELINE"]
        while grown := [group for group in groups if group & tied and not group <= tied]:
            tied = tied.union(*grown)
        return tied

    def rank_row(self, number):
        made, rank = self.made, self.made.simulation.ranks[number]
        first_offset, first_drift = made.clocks[made.written[0]]
        offset, drift = made.clocks[number]
        steps = len(rank.steps)
        wait, transfer = self.exposed(rank)
        return {"rank": number, "clock_is_tied": number in self.tied(),
                "clock_offset_ns": offset - first_offset,
                "clock_drift": drift - first_drift,
                "step_ns": (rank.steps[-1][1] - rank.steps[0][0]) / steps,
                "compute_ns": sum(end - start for _, _, _, start, end in rank.kernels) / steps,
                "exposed_wait_ns": wait / steps, "exposed_transfer_ns": transfer / steps,
                "steps": [number + self.options.first_step for number in made.windows[number]],
                **self.sums[number]}

    def steps(self):
        job, world = self.made.job, self.made.world
        alone = self.made.simulation
        out = {"step_ns": alone.mean_step_ns(), "no_fault_step_ns": alone.mean_step_ns()}
        if world.fault != "none":
            out["no_fault_step_ns"] = Simulation(job, changed(world, fault="none")).mean_step_ns()
        for name, change in (("ideal_overlap", {"is_overlap_ideal": True}),
                             ("ideal_network", {"transfer_scale": 0}),
                             ("no_data_stall", {"has_loader": False})):
            out[f"{name}_step_ns"] = Simulation(job, changed(world, **change)).mean_step_ns()
        return out

    def pipeline(self, rows):
        job = self.made.job
        if job.stages < 2:
            return None
        busy = sum(row["compute_ns"] / row["step_ns"] for row in rows) / len(rows)
        fill = job.stages - 1
        return {"stages": job.stages, "microbatches": job.microbatches, "chunks": job.chunks,
                "bubble_ratio": 1 - busy,
                "ideal_bubble_ratio": fill / (job.chunks * job.microbatches + fill)}

    def experts(self):
        """Most by mean of what the members of a group get, mean of all all-to-alls."""
        ratios, received = [], collections.Counter()
        for instance in self.made.simulation.instances.values():
            transfers = instance.transfers
            if next(iter(transfers.values())).name != "all_to_allv":
                continue
            counts = {rank: transfer.received for rank, transfer in transfers.items()}
            received.update(counts)
            ratios.append(max(counts.values()) / (sum(counts.values()) / len(counts)))
        if not ratios:
            return None
        return {"imbalance_ratio": sum(ratios) / len(ratios), "worst_imbalance_ratio": max(ratios),
                "busiest_rank": max(received, key=lambda rank: (received[rank], -rank))}

    def as_json(self):
        rows = [self.rank_row(rank) for rank in self.made.written]
        return {"options": vars(self.options), **self.steps(), "ranks": rows, "kinds": self.kinds,
                "groups": list(self.groups.values()), "pipeline": self.pipeline(rows),
                "experts": self.experts()}


# ---- options ----

def options_of(arguments):
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("--seed", type=int, default=1)
    add("--ranks", type=int, default=8)
    add("--steps", type=int, default=20)
    add("--first-step", type=int, default=10)
    add("--plan", choices=PLANS, default="dp", help="how the job is parallel")
    add("--tensor", type=int, default=1, help="ranks of a tensor-parallel group")
    add("--stages", type=int, default=1, help="of a pipeline")
    add("--microbatches", type=int, default=8)
    add("--chunks", type=int, default=1, help="of each stage (interleaved)")
    add("--layers", type=int, default=3)
    add("--buckets", type=int, default=8, help="all-reduces of gradients in a step")
    add("--overlap", type=float, default=0.5, help="share of these launched during backward")
    add("--comm-fraction", type=float, default=0.25, help="their transfer by compute")
    add("--expert-skew", type=float, default=0, help="what the first expert gets more")
    add("--fault", choices=FAULTS, default="none")
    add("--fault-rank", type=int, nargs="*", default=[])
    add("--fault-size", type=float, default=0.05, help="0.05: 5 %% slower")
    add("--fault-group", default="", help="of slow_link")
    add("--kernel-noise", type=float, default=0.02, help="of each kernel, gap and transfer")
    add("--step-noise", type=float, default=0.01, help="of a rank's kernels in a step together")
    add("--end-noise-ns", type=int, default=500, help="members of a collective end within this")
    add("--spread", type=float, default=0.002, help="of the devices' speed")
    add("--hiccups", type=float, default=0, help="share of steps of a rank that are a third longer")
    add("--checkpoint-steps", type=int, default=0, help="after so many the first rank saves")
    add("--broadcast", action="store_true", help="the first rank broadcasts buffers")
    add("--clock-ms", type=float, default=0, help="clocks are off by up to this")
    add("--drift-ppm", type=float, default=0, help="and drift by up to this")
    add("--two-bases", action="store_true", help="odd ranks started before the base time changed")
    add("--windows", action="store_true", help="profilers begin and end at different steps")
    add("--missing", type=int, nargs="*", default=[], help="ranks without a trace")
    add("--damage", choices=DAMAGES, default="none", help="of one collective on one rank")
    add("--metadata", choices=METADATA, default="full", help="what collectives say of themselves")
    add("--whole-us", action="store_true", help="times as torch before 2.4 wrote them")
    add("--names-differ", action="store_true", help="ranks call the same group differently")
    add("--host-ranks", type=int, default=0, help="ranks of a host; 0: host names are not said")
    add("--compact", action="store_true", help="no operators: small files")
    return parser.parse_args(arguments)


def make(folder, arguments):
    """Writes a set; returns its truth."""
    folder = pathlib.Path(folder)
    made = Set(options_of([str(argument) for argument in arguments]))
    made.write(folder)
    truth = Truth(made).as_json()
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    return truth


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    known, rest = parser.parse_known_args()
    truth = make(known.folder, rest)
    for name, value in truth.items():
        if name.endswith("_ns"):
            print(f"{name} {value:.0f}")


if __name__ == "__main__":
    main()
