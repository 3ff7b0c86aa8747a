# SPDX-License-Identifier: MIT
"""Plays a training job of many ranks (rank_schedule.py): hosts launch, devices work through their
streams, and a collective moves its data when the last member is ready. The same seed draws the same
random numbers whatever is changed, so that two runs differ by the change alone.
"""
import dataclasses
import math
import random

from rank_schedule import GEMM, US, WEIGHT_GEMM, Kernel, Wait, compute_ns, step_items

FAULTS = ("none", "slow_clock", "slow_kernels", "more_work", "larger_work", "slow_host",
          "slow_loader", "slow_link")
LAUNCH_NS, LATENCY_NS, GAP_NS = 5 * US, 4 * US, 1500
HOST_NS, LOADER_NS, CHECKPOINT_NS = 6 * US, 300 * US, 20_000 * US


@dataclasses.dataclass
class World:
    """How the machines are."""
    seed: int = 1
    steps: int = 20
    kernel_noise: float = 0.02  # each kernel, host gap and transfer by itself
    step_noise: float = 0.01  # all kernels of a rank in a step together
    end_noise_ns: int = 500  # members of a collective end within this
    spread: float = 0.002  # devices are not alike
    hiccups: float = 0  # share of the steps of a rank whose kernels are a third longer
    checkpoint_steps: int = 0  # after so many the first rank saves the model, 0: it does not
    fault: str = "none"
    fault_ranks: tuple = ()
    fault_size: float = 0.05
    fault_group: str = ""  # of slow_link
    is_overlap_ideal: bool = False
    transfer_scale: float = 1
    has_loader: bool = True


class Instance:
    """A collective of a step: when its members were ready, began and ended."""

    def __init__(self, key, size):
        self.key, self.size = key, size
        self.arrivals, self.previous, self.transfers = {}, {}, {}
        self.begins, self.ends, self.calls = {}, {}, {}
        self.moving_ns = self.transfer_ns = 0


class Rank:
    """State and record of one rank."""

    def __init__(self, number):
        self.number = number
        self.host = number % 64 * 7 * US
        self.compute_end = 0
        self.streams = {}  # stream key: its last instance
        self.by_key = {}  # of this step
        self.kernels = []  # (step, Kernel, launch, start, end)
        self.instances = []
        self.steps = []  # (start, end, loader's end)
        self.synchronises = []


class Simulation:
    """A job, played."""

    def __init__(self, job, world):
        self.job, self.world = job, world
        self.ranks = [Rank(number) for number in range(job.ranks)]
        self.instances = {}
        self.device_scale = [
            1 + world.spread * random.Random(f"{world.seed}/device/{number}").random()
            for number in range(job.ranks)]
        self.play()

    # ---- what a rank does ----

    def is_faulty(self, rank, *faults):
        return self.world.fault in faults and rank.number in self.world.fault_ranks

    def kernel_time(self, rank, kernel, noise):
        ns = kernel.ns * noise * self.device_scale[rank.number]
        size = self.world.fault_size
        if self.is_faulty(rank, "slow_clock", "larger_work"):
            ns *= 1 + size
        if self.is_faulty(rank, "slow_kernels") and kernel.name in (GEMM, WEIGHT_GEMM):
            ns *= 1 + size
        return max(1, round(ns))

    def launch_gap(self, rank, items):
        """Host time before each launch. A slow host cannot keep the device busy."""
        if not self.is_faulty(rank, "slow_host"):
            return HOST_NS
        count = sum(not isinstance(item, Wait) for item in items)
        return (1 + self.world.fault_size) * compute_ns(items) / count - LAUNCH_NS

    def items(self, rank, step):
        """More work: some kernels are launched twice."""
        items = step_items(self.job, rank.number, step)
        if not self.is_faulty(rank, "more_work"):
            return items
        out, due = [], 0
        for item in items:
            out.append(item)
            if isinstance(item, Kernel):
                due += item.ns * self.world.fault_size
                if due >= item.ns / 2:
                    due -= item.ns
                    out.append(item)
        return out

    def run_rank(self, rank):
        for step in range(self.world.steps):
            yield from self.run_step(rank, step)

    def run_step(self, rank, step):
        rng = random.Random(f"{self.world.seed}/{rank.number}/{step}")
        further = random.Random(f"{self.world.seed}/{rank.number}/{step}/further")
        draw = lambda source: math.exp(source.gauss(0, self.world.kernel_noise))
        start = rank.host
        rank.by_key = {}
        load = self.load_time(rank, rng)
        rank.host += load
        scale = math.exp(rng.gauss(0, self.world.step_noise)) * self.hiccup(rank, step)
        items = self.items(rank, step)
        gap, before, waits = self.launch_gap(rank, items), None, []
        for item in items:
            if isinstance(item, Wait):
                waits.append(item.key)
                if not self.world.is_overlap_ideal:
                    yield from self.wait(rank, item.key)
                continue
            source = further if item is before else rng
            rank.host += round(gap * draw(source))
            if isinstance(item, Kernel):
                self.launch(rank, step, item, scale * draw(source))
            else:
                yield from self.start_transfer(rank, item)
            before = item
        for key in waits:
            yield from self.wait(rank, key)
        if self.world.checkpoint_steps and not rank.number:
            rank.host += CHECKPOINT_NS * ((step + 1) % self.world.checkpoint_steps == 0)
        self.synchronise(rank)
        rank.steps.append((start, rank.host, start + load))

    def hiccup(self, rank, step):
        rng = random.Random(f"{self.world.seed}/{rank.number}/{step}/hiccup")
        return 4 / 3 if rng.random() < self.world.hiccups else 1

    def load_time(self, rank, rng):
        ns = LOADER_NS * math.exp(rng.gauss(0, self.world.kernel_noise))
        if self.is_faulty(rank, "slow_loader"):
            ns += self.world.fault_size * compute_ns(step_items(self.job, rank.number, 0))
        return round(ns) if self.world.has_loader else 0

    def launch(self, rank, step, kernel, noise):
        launch = rank.host
        rank.host += LAUNCH_NS
        start = max(rank.host + LATENCY_NS, rank.compute_end + GAP_NS)
        rank.compute_end = start + self.kernel_time(rank, kernel, noise)
        rank.kernels.append((step, kernel, launch, start, rank.compute_end))

    def start_transfer(self, rank, transfer):
        """It can begin on this rank once what the device has now is done, the transfer that it
        needs has ended, and its stream is free."""
        launch = rank.host
        rank.host += LAUNCH_NS
        size = len(transfer.group.ranks)
        instance = self.instances.setdefault(transfer.key_in_group(), Instance(transfer.key, size))
        number = rank.number
        instance.previous[number] = rank.streams.get(transfer.stream_key())
        instance.transfers[number] = transfer
        instance.calls[number] = launch
        rank.streams[transfer.stream_key()] = instance
        rank.instances.append(instance)
        rank.by_key[transfer.key] = instance
        arrival = max(rank.host + LATENCY_NS, rank.compute_end)
        if transfer.after:
            other = rank.by_key[transfer.after]
            while not self.resolve(other):
                yield other
            arrival = max(arrival, other.ends[number] + GAP_NS)
        instance.arrivals[number] = arrival

    def wait(self, rank, key):
        """The compute stream goes on when the collective has ended on this rank."""
        instance = rank.by_key[key]
        while not self.resolve(instance):
            yield instance
        rank.compute_end = max(rank.compute_end, instance.ends[rank.number])

    def synchronise(self, rank):
        """loss.item(): the host waits for the device."""
        start = rank.host
        rank.host = max(rank.host, rank.compute_end) + 3 * US
        rank.synchronises.append((start, rank.host))
        rank.host += 4 * US

    # ---- collectives ----

    def resolve(self, instance):
        """Finds when it began and ended, if all is known by now."""
        if instance.ends:
            return True
        if len(instance.arrivals) < instance.size:
            return False
        for previous in instance.previous.values():
            if previous and not self.resolve(previous):
                return False
        for number, arrival in instance.arrivals.items():
            previous = instance.previous[number]
            free = previous.ends[number] + GAP_NS if previous else 0
            instance.begins[number] = max(arrival, free)
        rng = random.Random(f"{self.world.seed}/{instance.key}/{min(instance.arrivals)}")
        transfer = next(iter(instance.transfers.values()))
        ns = transfer.nominal_ns() * math.exp(rng.gauss(0, self.world.kernel_noise))
        if self.world.fault == "slow_link" and transfer.group.name == self.world.fault_group:
            ns *= 1 + self.world.fault_size
        instance.moving_ns = max(instance.begins.values())
        instance.transfer_ns = max(0, round(ns * self.world.transfer_scale))
        self.end(instance, transfer, rng)
        return True

    def end(self, instance, transfer, rng):
        """Together, but that nobody waits for those who come late to a broadcast."""
        root = instance.begins[transfer.group.ranks[0]]
        for number, begin in sorted(instance.begins.items()):
            moving = max(root, begin) if transfer.name == "broadcast" else instance.moving_ns
            noise = rng.randrange(self.world.end_noise_ns + 1)
            instance.ends[number] = moving + instance.transfer_ns + noise

    def play(self):
        """Ranks go on in turn, each until it waits for a collective that others have not joined."""
        runs = {rank.number: self.run_rank(rank) for rank in self.ranks}
        blocked = dict.fromkeys(runs)
        while runs:
            moved = False
            for number in list(runs):
                if blocked[number] and not self.resolve(blocked[number]):
                    continue
                moved = True
                blocked[number] = next(runs[number], None)
                if blocked[number] is None:
                    del runs[number]
            if not moved:
                raise RuntimeError("the schedule waits for itself")

    # ---- what it was ----

    def mean_step_ns(self):
        """Of all ranks, from the first step's begin to the last one's end."""
        walls = [(rank.steps[-1][1] - rank.steps[0][0]) / self.world.steps for rank in self.ranks]
        return sum(walls) / len(walls)


def changed(world, **changes):
    return dataclasses.replace(world, **changes)
