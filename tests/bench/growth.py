#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether cost grows with the number of events and no faster: from 100 MB to 4 GB, stage by stage,
and on traces of hostile shapes (shapes.py).

usage: growth.py TSCOPE [--sizes EVENTS,EVENTS] [--limit FACTOR] [SHAPE]...

Only the shapes are measured then. Exit status 1: the time for one event grew by more than the
limit from the smaller size to the larger.
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
MOST_GROWTH, MOST_STAGE_GROWTH, MOST_SHAPE_GROWTH = 1.1, 1.1, 1.3
LEAST_SHARE = 0.005  # below this share of the total a stage's growth says nothing
SIZES = (100_000, 400_000)
FEWER = 4  # events where instructions are counted: that takes fifty times longer
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
    Time for one event at the smaller and at the larger size. instructions, where that grows too
    much: by what their number for one event grows between FEWER times smaller sizes, else None.
    Where it does not grow with the time, the caches are to blame.
    """
    shape: str
    command: str
    sizes: tuple
    small_ns: float
    large_ns: float
    peak_bytes: int
    instructions: float | None = None

    def factor(self):
        return self.large_ns / self.small_ns


def least_cpu(command, rounds):
    """The least of several runs is what other programs disturbed least."""
    runs = [measure.Run(command, statuses=(0, NOTHING_IN_IT)) for _ in range(rounds)]
    return min(run.cpu_s for run in runs), measure.peak(runs)


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


def instruction_growths(tscope, shape, sizes):
    """Name of a command → growth of its instructions for one event."""
    sizes = [size // FEWER for size in sizes]
    counts = measure_at(tscope, shape, sizes, stages.count)
    return {name: large / sizes[1] / (small / sizes[0]) for name, (small, large) in counts.items()}


def measure_shape(tscope, shape, sizes, rounds):
    """The Growth of each command."""
    sizes = tuple(size // HEAVY.get(shape, 1) for size in sizes)
    runs = measure_at(tscope, shape, sizes,
                      lambda arguments: least_cpu(Command(arguments), rounds))
    growths = [Growth(shape, name, sizes, small_s * 1e9 / sizes[0], large_s * 1e9 / sizes[1],
                      peak_bytes)
               for name, ((small_s, _), (large_s, peak_bytes)) in runs.items()]
    if stages.is_there() and any(growth.factor() > MOST_SHAPE_GROWTH for growth in growths):
        instructions = instruction_growths(tscope, shape, sizes)
        growths = [growth._replace(instructions=instructions[growth.command])
                   for growth in growths]
    return growths


def factor_text(factor):
    return "" if factor is None else f"{factor:.2f}"


def measure_shapes(tscope, names, sizes, rounds):
    print(f"\nhostile shapes, CPU time for one event\n{'':34} {'command':8} {'events':>8} {'ns':>9}"
          f" {'events':>9} {'ns':>9} {'growth':>7} {'instr.':>7} {'peak MB':>8}")
    for name in names:
        for growth in measure_shape(tscope, name, sizes(name), rounds):
            print(f"{name:34} {growth.command:8} {growth.sizes[0]:8} {growth.small_ns:9.1f} "
                  f"{growth.sizes[1]:9} {growth.large_ns:9.1f} {growth.factor():7.2f} "
                  f"{factor_text(growth.instructions):>7} {growth.peak_bytes / 1e6:8.1f}",
                  flush=True)
            yield growth


def bench_sizes(shape):
    return MILLION_SIZES if shape in MILLIONS else SIZES


def note_of(growth):
    return f"instructions {factor_text(growth.instructions)}" if growth.instructions else ""


def shape_marks(tscope, rounds):
    growths = list(measure_shapes(tscope, shapes.SHAPES, bench_sizes, rounds))
    for growth in growths:
        if growth.shape in MILLIONS or growth.factor() > MOST_SHAPE_GROWTH:
            yield Mark(8, f"{growth.shape}, {growth.command}: growth to {growth.sizes[1]} events",
                       growth.factor(), MOST_SHAPE_GROWTH, mine=f"{growth.large_ns:.0f} ns",
                       peer=f"{growth.small_ns:.0f} ns", note=note_of(growth))
    worst = max(growths, key=Growth.factor)
    yield Mark(8, f"the worst of {len(shapes.SHAPES)} shapes: {worst.shape}, {worst.command}",
               worst.factor(), MOST_SHAPE_GROWTH)


# ---- large traces --------------------------------------------------------------------------


def event_marks(tscope, small, large, rounds):
    """CPU time for one event of a large trace against that of a small one."""
    runs = measure.measure({trace.plain: Command([tscope, "trace", "--threads", "1", trace.plain])
                            for trace in (small, large)}, rounds)
    small_ns, large_ns = (min(run.cpu_s for run in runs[trace.plain]) * 1e9 / trace.events
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
    parser.add_argument("--limit", type=float, default=MOST_SHAPE_GROWTH)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_intermixed_args()
    sizes = tuple(map(int, arguments.sizes.split(",")))
    growths = list(measure_shapes(arguments.tscope, arguments.shapes or shapes.SHAPES,
                                  lambda _: sizes, arguments.rounds))
    excessive = [growth for growth in growths if growth.factor() > arguments.limit]
    for growth in excessive:
        print(f"NOT LINEAR: {growth.shape}, {growth.command}: {growth.factor():.2f}")
    print(f"{len(growths) - len(excessive)} passed, {len(excessive)} failed")
    return 1 if excessive else 0


if __name__ == "__main__":
    sys.exit(main())
