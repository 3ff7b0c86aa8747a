#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether cost grows with the number of events and no faster: from 100 MB to 4 GB, stage by stage,
and on traces of hostile shapes (shapes.py).

usage: growth.py TSCOPE [--sizes EVENTS,EVENTS] [--limit FACTOR] [--rounds N] [--time] [SHAPE]...

Only the shapes are measured then, by instructions alone with --rounds 0, without them by --time,
which takes a tenth as long. Exit status 1: what one event takes grew by more than the limit from
the smaller size to the larger, in instructions if these are counted (by valgrind), else in CPU time.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import typing

import measure
import shapes
import stages
from measure import Command, Mark

HERE = pathlib.Path(__file__).resolve().parent
MOST_OF_TOTAL = 0.25  # for one analyzer
MOST_GROWTH, MOST_STAGE_GROWTH = 1.1, 1.1
MOST_SHAPE_GROWTH = 1.1  # of instructions: the same on every machine
MOST_SHAPE_TIME_GROWTH = 1.3  # caches have a share in it
LEAST_SHARE = 0.005  # below this share of the total a stage's growth says nothing
SIZES = (100_000, 400_000)
FEW = 40  # events whose cost is that of any trace
FEWER = 8  # times fewer events where instructions are counted: that takes fifty times longer
# What large jobs do look like in part, at the size of a large job.
MILLIONS = ("distinct-operators", "threads", "nested-operators", "one-instant",
            "equal-correlations", "backward")
MILLION_SIZES = (250_000, 1_000_000)
HEAVY = {"long-names": 10}  # shape → how many times fewer events: 4 KB each
COMMANDS = {"trace": ["trace", "--threads", "1", "--format", "json", "--full"],
            "report": ["report", "--threads", "1", "--format", "json", "--full"]}
NOTHING_IN_IT = 3  # exit status: some shapes are no trace of anything


# ---- hostile shapes ------------------------------------------------------------------------


class Growth(typing.NamedTuple):
    """
    What one event takes at the smaller and at the larger size; None: not measured. Instructions
    are those beyond what a trace of FEW events takes.
    """
    shape: str
    command: str
    sizes: tuple
    time_ns: tuple | None = None
    peak_bytes: int | None = None
    instructions: tuple | None = None

    def time_factor(self):
        return self.time_ns and self.time_ns[1] / self.time_ns[0]

    def instruction_factor(self):
        return self.instructions and self.instructions[1] / self.instructions[0]

    def factor(self):
        """The one that counts."""
        return self.instruction_factor() or self.time_factor()

    def limit(self):
        return MOST_SHAPE_GROWTH if self.instructions else MOST_SHAPE_TIME_GROWTH


def least_cpu(command, rounds):
    """The least of several runs is what other programs disturbed least."""
    runs = [measure.Run(command, statuses=(0, NOTHING_IN_IT)) for _ in range(rounds)]
    return measure.least_cpu(runs), measure.peak(runs)


def measure_at(tscope, shape, sizes, cost):
    """Name of a command → its cost at each size; cost: of its arguments."""
    costs = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = pathlib.Path(folder) / f"{size}.json"
            subprocess.run([sys.executable, HERE / "shapes.py", shape, str(size), path], check=True)
            for name, command in COMMANDS.items():
                costs[name].append(cost([tscope, *command, path]))
            path.unlink()
    return costs


def measure_shape(tscope, shape, sizes, rounds, counts):
    """The Growth of each command. rounds: 0 measures no time; counts: instructions, if they can be."""
    sizes = tuple(size // HEAVY.get(shape, 1) for size in sizes)
    growths = {name: Growth(shape, name, sizes) for name in COMMANDS}
    if rounds:
        runs = measure_at(tscope, shape, sizes,
                          lambda arguments: least_cpu(Command(arguments), rounds))
        for name, made in runs.items():
            growths[name] = growths[name]._replace(
                time_ns=tuple(cpu_s * 1e9 / size for (cpu_s, _), size in zip(made, sizes)),
                peak_bytes=made[1][1])
    if counts and stages.is_there():
        fewer = [size // FEWER for size in sizes]
        for name, (least, *more) in measure_at(tscope, shape, [FEW, *fewer], stages.count).items():
            growths[name] = growths[name]._replace(instructions=tuple(
                (count - least) / (size - FEW) for count, size in zip(more, fewer)))
    return growths.values()


def figure(value, form):
    return "" if value is None else format(value, form)


def measure_shapes(tscope, names, sizes, rounds, counts=True):
    """Instructions are of FEWER times fewer events."""
    print(f"\nhostile shapes, one event\n{'':34} {'command':8} {'events':>8} {'ns':>9} "
          f"{'events':>9} {'ns':>9} {'growth':>7} {'instr.':>9} {'growth':>7} {'peak MB':>8}")
    for name in names:
        for growth in measure_shape(tscope, name, sizes(name), rounds, counts):
            small_ns, large_ns = growth.time_ns or (None, None)
            print(f"{name:34} {growth.command:8} {growth.sizes[0]:8} {figure(small_ns, '.1f'):>9} "
                  f"{growth.sizes[1]:9} {figure(large_ns, '.1f'):>9} "
                  f"{figure(growth.time_factor(), '.2f'):>7} "
                  f"{figure(growth.instructions and growth.instructions[1], '.1f'):>9} "
                  f"{figure(growth.instruction_factor(), '.3f'):>7} "
                  f"{figure(growth.peak_bytes and growth.peak_bytes / 1e6, '.1f'):>8}", flush=True)
            yield growth


def bench_sizes(shape):
    return MILLION_SIZES if shape in MILLIONS else SIZES


def shape_mark(growth, what):
    small, large = growth.instructions or growth.time_ns
    unit = "instr." if growth.instructions else "ns"
    return Mark(8, what, growth.factor(), growth.limit(), mine=f"{large:.0f} {unit}",
                peer=f"{small:.0f} {unit}", note=f"CPU time {growth.time_factor():.2f}")


def shape_marks(tscope, rounds):
    growths = list(measure_shapes(tscope, shapes.SHAPES, bench_sizes, rounds))
    for growth in growths:
        if growth.shape in MILLIONS or growth.factor() > growth.limit():
            yield shape_mark(growth, f"{growth.shape}, {growth.command}: growth to "
                             f"{growth.sizes[1]} events")
    worst = max(growths, key=Growth.factor)
    yield shape_mark(worst, f"the worst of {len(shapes.SHAPES)} shapes: {worst.shape}, "
                     f"{worst.command}")


# ---- large traces --------------------------------------------------------------------------


def event_marks(tscope, small, large, rounds):
    """CPU time for one event of a large trace against that of a small one."""
    runs = measure.measure({trace.plain: Command([tscope, "trace", "--threads", "1", trace.plain])
                            for trace in (small, large)}, rounds)
    small_ns, large_ns = (measure.least_cpu(runs[trace.plain]) * 1e9 / trace.events
                          for trace in (small, large))
    yield Mark(8, f"CPU time for one event, {large.size / 1e9:.0f} GB / 100 MB",
               large_ns / small_ns, MOST_GROWTH, mine=f"{large_ns:.0f} ns",
               peer=f"{small_ns:.0f} ns")


def profile_marks(tscope, small, large):
    """Shares of all instructions, and how instructions for one event grow."""
    if not stages.is_there():
        yield Mark(8, "the largest analyzer's share of all", None, MOST_OF_TOTAL,
                   note="no valgrind")
        return
    profiles = [stages.measure([tscope, "trace", "--threads", "1", trace.plain])
                for trace in (small, large)]
    per_event = [{name: cost / trace.events for name, cost in profile.stages()}
                 for profile, trace in zip(profiles, (small, large))]
    shares = {name: cost / profiles[1].total for name, cost in profiles[1].stages()}
    growths = {name: per_event[1][name] / per_event[0][name] for name in shares
               if shares[name] >= LEAST_SHARE and per_event[0].get(name)}
    print_profile(shares, per_event[1], growths)
    print_folders(profiles[1])
    analyzers = [name for name in shares if name.startswith("analyzer")]
    largest = max(analyzers, key=shares.get, default=None)
    yield Mark(8, f"the largest analyzer's share of all: {largest or 'unknown'}",
               shares.get(largest), MOST_OF_TOTAL,
               note="" if largest else "the program has no debug information")
    fastest = max(growths, key=growths.get)
    yield Mark(8, f"growth of instructions for one event, the most: {fastest}", growths[fastest],
               MOST_STAGE_GROWTH)


def print_profile(shares, per_event, growths):
    print(f"\nprofile, instructions with --threads 1 at 1 GB\n{'':34} {'share':>7} {'an event':>9}"
          f" {'growth from 100 MB':>19}")
    for name, share in shares.items():
        growth = f"{growths[name]:19.3f}" if name in growths else ""
        print(f"{name:34} {share:7.2%} {per_event[name]:9.1f} {growth}")


def print_folders(profile):
    print("by folder, what is inlined included: " + ", ".join(
        f"{folder} {cost / profile.total:.1%}" for folder, cost in profile.folders.most_common()))


def marks(tscope, traces, rounds):
    """traces: of 100 MB, 1 GB and 4 GB."""
    small, middle, large = traces
    yield from event_marks(tscope, small, large, rounds)
    yield from profile_marks(tscope, small, middle)
    yield from shape_marks(tscope, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--limit", type=float)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--time", action="store_true", help="count no instructions")
    arguments = parser.parse_intermixed_args()
    if not arguments.rounds and (arguments.time or not stages.is_there()):
        parser.error("--rounds 0 needs valgrind")
    sizes = tuple(map(int, arguments.sizes.split(",")))
    growths = list(measure_shapes(arguments.tscope, arguments.shapes or shapes.SHAPES,
                                  lambda _: sizes, arguments.rounds, not arguments.time))
    excessive = [growth for growth in growths
                 if growth.factor() > (arguments.limit or growth.limit())]
    for growth in excessive:
        print(f"NOT LINEAR: {growth.shape}, {growth.command}: {growth.factor():.3f}")
    print(f"{len(growths) - len(excessive)} passed, {len(excessive)} failed")
    return 1 if excessive else 0


if __name__ == "__main__":
    sys.exit(main())
