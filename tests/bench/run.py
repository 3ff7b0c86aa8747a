#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints every mark of speed and memory: what tscope needs against what the machine and its peers
can do. All programs of a group take turns, round after round, so that each ratio is of runs made in
the same minute; what is printed is the median over the rounds. In the same run the reports are
compared with the traces' truth, so that speed cannot come from work left out.

usage: run.py TSCOPE [--simdjson PROGRAM] [--perfetto PROGRAM] [--folder FOLDER] [--rounds N]
              [--machine PROGRAM] [--load] [--json FILE] [GROUP]...

Groups, all of them if none is named: large (marks 1 to 3, 9), memory (4), ranks (5),
layouts (6), small (7), growth (8), snapshot (9), slice (10).

The folder (or TSCOPE_BENCH_DIR) holds the inputs, is filled where they are missing, and kept:
8.5 GB. Inputs that lie elsewhere may be linked to: m100, g1, g4, r8 are folders of the shared
generator, with their truth.json. A peer that is not on the machine is said to be missing. The
machine's limits (bench_machine) stand beside the marks: a figure from two CPUs of one core is no
regression. --json writes both for programs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import growth
import inputs
import many_ranks
import measure
import memory
from measure import Command, Mark, compare

HERE = pathlib.Path(__file__).resolve().parent
PEAK_SHARE, PEAK_STRETCH_BYTES = 0.05, 64e6
SMALL_RUNS = 20  # runs of a few milliseconds in each round
SMALL_EVENTS, SMALL_FILES = 4000, 1000  # a trace of 1 MB; a folder of traces of 160 KB
PERFETTO_QUERY = "select category, count(*), sum(dur) from slice group by category;"
HTA = ("import sys; from hta.trace_analysis import TraceAnalysis; t = TraceAnalysis(trace_dir="
       "sys.argv[1]); t.get_temporal_breakdown(visualize=False); "
       "t.get_comm_comp_overlap(visualize=False); t.get_idle_time_breakdown(visualize=False)")
# Peers that no package of Debian holds: their seconds for g1, and those of cat for it, as they
# were once measured on a machine like this. What follows from them is said to be an estimate.
QUOTED_CAT_S = 0.124
QUOTED_PEERS = {"Perfetto": (8.70, 1 / 20), "HTA": (201.9, 1 / 400)}


class Bench:
    """What all groups need: the programs, the inputs, how often to measure."""

    def __init__(self, arguments):
        self.tscope, self.simdjson = arguments.tscope, arguments.simdjson
        self.perfetto, self.rounds = arguments.perfetto, arguments.rounds
        self.folder = pathlib.Path(os.environ.get("TSCOPE_BENCH_DIR", arguments.folder)).absolute()

    def trace(self, name):
        return inputs.trace(self.folder / name, {"m100": "100M", "g1": "1G", "g4": "4G"}[name])

    def report(self, path, *options, **where):
        return Command([self.tscope, "trace", *options, path], **where)

    def fields(self, mode, path):
        """simdjson, which reads seven fields of each event and does nothing with them."""
        return Command([self.simdjson or "simdjson_fields", mode, path])


# ---- one large trace -----------------------------------------------------------------------


def packed_commands(bench, trace):
    """Of each compression: in parts, on all cores and on one, and the peers."""
    peers = {"gz": ["igzip", "-dc"], "zst": ["zstd", "-dc", "-q"]}
    for ending, peer in peers.items():
        path, parts = trace.packed(ending), trace.packed_in_parts(ending)
        if path:
            yield f"tscope {ending}", bench.report(path)
            yield f"tscope {ending}, one core", bench.report(path, "--threads", "1",
                                                            cpu=measure.CPUS[0])
            yield peer[0], Command([*peer, path])
            yield f"{peer[0]}, one core", Command([*peer, path], cpu=measure.CPUS[0])
        if parts:
            yield f"tscope {ending} of {inputs.MEMBERS} parts", bench.report(parts)


def peer_commands(bench, trace):
    query = bench.folder / "query.sql"
    query.write_text(PERFETTO_QUERY, encoding="ascii")
    yield "Perfetto", Command([bench.perfetto, "-q", query, trace.plain])
    if subprocess.run([sys.executable, "-c", "import hta.trace_analysis"], capture_output=True,
                      check=False).returncode == 0:
        yield "HTA", Command([sys.executable, "-c", HTA, trace.folder])


def peer_marks(runs):
    """Mark 9: a peer that cannot be run here is held against cat, as it once was."""
    for name, (quoted_s, at_most) in QUOTED_PEERS.items():
        if name in runs:
            yield compare(9, f"plain / {name}", runs, "tscope", name, at_most)
            continue
        figure = measure.ratio(runs, "tscope", "cat") * QUOTED_CAT_S / quoted_s
        yield Mark(9, f"plain / {name}, ESTIMATED, not measured here", figure, at_most, note=f"from "
                   f"{quoted_s} s where cat took {QUOTED_CAT_S} s: {name} is not installed")


def large_marks(runs):
    one, two = "tscope --threads 1", "tscope"
    yield compare(1, "plain, one thread / simdjson's best case", runs, one, "simdjson batches",
                  0.75, 0.55)
    yield compare(1, "plain, one thread / simdjson after a load", runs, one, "simdjson load", 0.35)
    yield compare(1, "plain, one thread / cat", runs, one, "cat", 4.5, 2.7)
    yield compare(2, "plain, two threads / one thread", runs, two, one, 0.62, 0.60)
    yield compare(2, "plain, two threads / cat", runs, two, "cat", 2.8, 1.6)
    yield compare(3, "gz / igzip -dc", runs, "tscope gz", "igzip", 1.5, 1.25)
    yield compare(3, "zst / zstd -dc", runs, "tscope zst", "zstd", 1.1, 0.9)
    yield compare(3, "gz, one core / igzip -dc", runs, "tscope gz, one core", "igzip, one core",
                  2.2)
    yield compare(3, "zst, one core / zstd -dc", runs, "tscope zst, one core", "zstd, one core")
    for ending in inputs.PACKERS:
        parts = f"tscope {ending} of {inputs.MEMBERS} parts"
        yield compare(3, f"{ending} of {inputs.MEMBERS} parts / of one", runs, parts,
                      f"tscope {ending}")
    yield from peer_marks(runs)


def measure_large(bench):
    trace = bench.trace("g1")
    table = {"cat": Command(["cat", trace.plain]),
             "tscope --threads 1": bench.report(trace.plain, "--threads", "1"),
             "simdjson batches": bench.fields("batches", trace.plain),
             "tscope": bench.report(trace.plain),
             "simdjson load": bench.fields("load", trace.plain),
             **dict(packed_commands(bench, trace)), **dict(peer_commands(bench, trace))}
    runs = measure.measure(table, bench.rounds)
    measure.print_runs("one trace of 1 GB", runs, dict.fromkeys(runs, trace.size))
    yield from large_marks(runs)



# ---- memory --------------------------------------------------------------------------------


def memory_commands(bench, trace):
    for ending in ("plain", *inputs.PACKERS):
        path = trace.packed(ending)
        if path:
            yield ending, bench.report(path)
    yield "plain, one thread", bench.report(trace.plain, "--threads", "1")
    yield "from a pipe", bench.report("-", piped=trace.plain)


def measure_memory(bench):
    for name in ("g1", "g4"):
        trace = bench.trace(name)
        runs = measure.measure(dict(memory_commands(bench, trace)), 1)
        measure.print_runs(f"memory, {name}", runs, dict.fromkeys(runs, trace.size))
        for what, made in runs.items():
            yield Mark(4, f"peak memory / size of the trace, {name}, {what}",
                       measure.peak(made) / trace.size, PEAK_SHARE,
                       min(PEAK_SHARE, PEAK_STRETCH_BYTES / trace.size),
                       measure.megabytes(measure.peak(made)), measure.megabytes(trace.size))



# ---- other text ----------------------------------------------------------------------------


def measure_layouts(bench):
    source = bench.trace("m100")
    texts = {"as generated": source.plain,
             **inputs.other_layouts(bench.folder / "layouts", source)}
    for _, path in inputs.real_traces(bench.folder / "real"):
        texts[f"real, {path.name[:22]}"] = path
    table = {}
    for name, path in texts.items():
        table[name] = bench.report(path, "--threads", "1")
        table[f"{name}, simdjson"] = bench.fields("batches", path)
    runs = measure.measure(table, bench.rounds)
    measure.print_runs("other layouts, one thread", runs, {
        run: path.stat().st_size for name, path in texts.items()
        for run in (name, f"{name}, simdjson")})
    for name in texts:
        yield compare(6, f"{name}, one thread / simdjson's best case", runs, name,
                      f"{name}, simdjson", 1)


# ---- small files ---------------------------------------------------------------------------


def measure_small(bench):
    packed, plain = next(inputs.real_traces(bench.folder / "real"), (None, None))
    small = inputs.shape(bench.folder / "small", "training", SMALL_EVENTS)
    table = {"true": Command(["true"]), "--version": Command([bench.tscope, "--version"]),
             "1 MB": bench.report(small)}
    if packed:
        table |= {"cat": Command(["cat", plain]), "tscope gz": bench.report(packed),
                  "tscope gz, one thread": bench.report(packed, "--threads", "1"),
                  "igzip": Command(["igzip", "-dc", packed])}
    runs = measure.measure(table, SMALL_RUNS * bench.rounds)
    folder = inputs.many_small(bench.folder / "many", SMALL_FILES)
    runs |= measure.measure({"many": Command([bench.tscope, "report", folder])}, bench.rounds)
    measure.print_runs(f"small: {packed.name if packed else 'no real trace'}", runs, {})
    if packed:
        yield measure.milliseconds(7, "real gz of 10 MB", runs["tscope gz"], 15)
        yield compare(7, "real gz of 10 MB / igzip -dc", runs, "tscope gz", "igzip", 2.5)
    yield measure.milliseconds(7, "--version", runs["--version"], 1.5)
    yield measure.milliseconds(7, "true", runs["true"], None)
    yield measure.milliseconds(7, "a trace of 1 MB", runs["1 MB"], 6)
    yield measure.milliseconds(7, f"a folder of {SMALL_FILES} ranks of 160 KB", runs["many"], 1500)


# ---- all of it -----------------------------------------------------------------------------


def measure_ranks(bench):
    return many_ranks.marks(bench.tscope, bench.folder / "r8", bench.rounds)


def measure_growth(bench):
    return growth.marks(bench.tscope, [bench.trace(name) for name in ("m100", "g1", "g4")],
                        bench.rounds)


def measure_snapshot(bench):
    return memory.marks(bench.tscope, bench.folder / "snapshot", "100M", bench.rounds)


def measure_slice(bench):
    """Three steps cut out of a trace, against a report on it: both read it, and a slice also writes."""
    trace, target = bench.trace("g1"), bench.folder / "slice.json"
    slices = {name: Command([bench.tscope, "slice", "--steps", "12:14", "--out", path, trace.plain])
              for name, path in (("slice", target), ("slice gz", f"{target}.gz"))}
    runs = measure.measure({"tscope": bench.report(trace.plain), **slices}, bench.rounds)
    measure.print_runs("slice of three steps, 1 GB", runs, dict.fromkeys(runs, trace.size))
    for name in slices:
        yield compare(10, f"{name} / tscope trace", runs, name, "tscope", 1.5, 1.3)


GROUPS = {"large": measure_large, "memory": measure_memory, "ranks": measure_ranks,
          "layouts": measure_layouts, "small": measure_small, "growth": measure_growth,
          "snapshot": measure_snapshot, "slice": measure_slice}


def print_machine(bench, is_loaded, machine):
    """Returns what is written for programs."""
    version = subprocess.run([bench.tscope, "--version"], capture_output=True, text=True,
                             check=True).stdout.splitlines()[0]
    print(f"{version}; {len(measure.CPUS)} CPUs, "
          f"{'the last of them kept busy' if is_loaded else 'nothing else started by this bench'}; "
          f"load average {os.getloadavg()[0]:.1f}; {bench.rounds} rounds")
    limits = {}
    if machine:
        limits = json.loads(subprocess.run([machine], capture_output=True, text=True,
                                           check=True).stdout)
        print(", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in limits.items()))
    return {"version": version, "cpus": len(measure.CPUS), "load": os.getloadavg()[0], **limits}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--simdjson", help="the program simdjson_fields")
    parser.add_argument("--perfetto", default="trace_processor_shell")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(tempfile.gettempdir()) / "tscope-bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--machine", help="the program bench_machine")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--load", action="store_true", help="keep another core busy meanwhile")
    arguments = parser.parse_intermixed_args()
    if unknown := set(arguments.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}")
    return arguments


def main():
    arguments = parse_arguments()
    bench, groups = Bench(arguments), arguments.groups or list(GROUPS)
    bench.folder.mkdir(parents=True, exist_ok=True)
    machine = print_machine(bench, arguments.load, arguments.machine)
    marks = []
    with measure.busy_cpu(arguments.load):
        for group in groups:
            marks += GROUPS[group](bench)
    marks.sort(key=lambda mark: mark.number)
    measure.print_marks(marks)
    if arguments.json:
        arguments.json.write_text(json.dumps(
            {"machine": machine, "marks": measure.rows(marks)}, indent=1) + "\n", encoding="ascii")
    return subprocess.run([sys.executable, HERE / "check.py", arguments.tscope, bench.folder,
                           arguments.simdjson or "", *groups], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
