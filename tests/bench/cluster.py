#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What maps and reports of very many ranks cost, each figure beside its limit.

usage: cluster.py TSCOPE MULTIPLY_RANKS [--folder FOLDER] [FIGURE...]

FIGURE: size, map, small, steps, huge, logs, unstated, irregular, beside, threads (default: all). The folder keeps the
generated traces (200 MB, and eight small ones); files of many ranks are made anew, 1.4 GB at most.
Processor time is that of one run, of maps and traces the least of three. Exit 1: over a limit.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import inputs
from measure import Command, Run

FIGURES = ("size", "map", "small", "steps", "huge", "logs", "unstated", "irregular", "beside", "threads")
# Five steps, 192 collectives of each.
LOGGED = ["--ranks", "8", "--steps", "5", "--buckets", "200", "--events-per-step", "8500",
          "--clock-skew-us", "500", "--layout", "hta"]


class Bench:
    def __init__(self, options):
        self.tscope, self.multiply, self.folder = options.tscope, options.multiply, options.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.scratch = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.over = 0

    def put(self, what, value, limit, unit):
        is_over = limit is not None and value > limit
        self.over += is_over
        bound = f"(<= {limit:g})" if limit is not None else ""
        print(f"{what:58} {value:10.3f} {unit:8} {bound:10} {'OVER' if is_over else ''}", flush=True)

    def run(self, *arguments, statuses=(0,)):
        return Run(Command([str(self.tscope), *map(str, arguments)]), statuses)

    def map(self, *paths):
        """The folder with what is mapped of the paths."""
        target = pathlib.Path(tempfile.mkdtemp(dir=self.scratch)) / "mapped"
        self.run("map", "--force", "--quiet", "--out", target, *paths)
        return target

    def many(self, count, maps, groups="stated"):
        """One file with so many ranks, each one of the maps under another number."""
        path = self.scratch / f"{count}.tsr"
        with open(path, "wb") as out:
            subprocess.run([self.multiply, str(count), groups, *sorted(map(str, maps.glob("*.tsr")))], stdout=out, check=True)
        return path

    def large_trace(self):
        return inputs.trace(self.folder / "200M", "200M").plain

    def logged_maps(self):
        folder = self.folder / "logged"
        inputs.generate(folder, LOGGED)
        return self.map(*sorted(folder.glob("rank*.json")))

    def step_maps(self):
        folder = self.scratch / "steps"
        for rank in range(8):
            (folder / f"rank{rank}").mkdir(parents=True)
            (folder / f"rank{rank}" / "steps.jsonl").write_text("".join(
                json.dumps({"step": step, "step_time_s": 0.4 + rank / 1000 + step % 7 / 10000,
                            "phases": {"data": 0.01, "compute": 0.35, "comm": 0.03}, "loss": 3 - step / 50})
                + "\n" for step in range(30)))
        return self.map(folder)

    # ---- figures ----

    def size(self):
        trace = self.large_trace()
        mapped = next(self.map(trace).glob("*.tsr")).stat().st_size
        self.put("size: .tsr of a trace of 200 MB, of its bytes", 100 * mapped / trace.stat().st_size, 0.1, "%")
        self.put("size: the same", mapped / 1e3, 60, "kB")
        logged = [path.stat().st_size for path in self.logged_maps().glob("*.tsr")]
        self.put("size: .tsr of 960 collectives in 5 steps", max(logged) / 1e3, 60, "kB")

    def map_cost(self):
        trace = self.large_trace()
        rounds = [(self.run("map", "--threads", "1", "--force", "--quiet", "--out", self.scratch / "once", trace),
                   self.run("trace", "--threads", "1", "--full", trace),
                   self.run("trace", "--threads", "1", trace)) for _ in range(9)]
        mapped, full, screen = (min(run.cpu_s for run in column) for column in zip(*rounds))
        self.put("map: CPU of map by that of trace --full, 200 MB", mapped / full, 1.05, "")
        self.put("map: by that of trace, whose screen needs less", mapped / screen, None, "")

    def small(self):
        many = self.many(64, self.logged_maps())
        runs = [self.run("report", many) for _ in range(5)]
        self.put("small: report of 64 ranks of 960 collectives, CPU", min(run.cpu_s for run in runs), 0.25, "s")
        self.put("small: the same, wall", min(run.wall_s for run in runs), None, "s")

    def report(self, figure, what, path, limits, *options):
        run = self.run("report", *options, path)
        self.put(f"{figure}: {what}, CPU", run.cpu_s, limits[0], "s")
        if limits[1]:
            self.put(f"{figure}: {what}, memory", run.peak_bytes / 1e9, limits[1], "GB")
        return run

    def steps(self):
        return self.report("steps", "10,000 ranks of 30 step records", self.many(10000, self.step_maps()), (10, 0.5))

    def huge(self):
        maps = self.step_maps() if not (self.scratch / "steps").exists() else self.map(self.scratch / "steps")
        small = self.run("report", self.many(10000, maps))
        path = self.many(100000, maps)
        large = self.report("huge", "100,000 ranks of 30 step records", path, (60, 3))
        path.unlink()
        self.put("huge: CPU of 100,000 ranks by that of 10,000", large.cpu_s / small.cpu_s, 11, "")

    def logs(self):
        path = self.many(10000, self.logged_maps())
        self.report("logs", "10,000 ranks of 960 collectives", path, (120, 3))
        path.unlink()

    def few_maps(self):
        folder = self.scratch / "few"
        if not folder.exists():
            inputs.generate(folder, ["--ranks", "8", "--steps", "3", "--buckets", "4", "--events-per-step",
                                     "200", "--layout", "hta"])
        return self.map(*sorted(folder.glob("rank*.json")))

    def unstated(self):
        path = self.many(8192, self.few_maps(), "unstated")
        self.report("unstated", "8,192 ranks, groups unstated", path, (2, None))

    def irregular(self):
        """Groups of half of the ranks, of which each lists 4,096: such lists cost no memory by rank."""
        maps = self.few_maps()
        stated = self.report("irregular", "8,192 ranks, groups with a stride", self.many(8192, maps), (3, 0.7))
        listed = self.report("irregular", "the same, 4,096 members listed", self.many(8192, maps, "irregular"), (3, 0.7))
        self.put("irregular: memory of lists by that of strides", listed.peak_bytes / stated.peak_bytes, 1.1, "")

    def beside(self):
        """A metrics file beside the records of each rank: whose it is takes no search among all ranks."""
        folder, cpu_s = self.scratch / "beside", []
        for count in (4000, 16000):
            for rank in range(count):
                place = folder / f"rank{rank}"
                place.mkdir(parents=True, exist_ok=True)
                (place / "steps.jsonl").write_text("".join(
                    json.dumps({"step": step, "step_time_s": 0.4, "phases": {"compute": 0.35}}) + "\n"
                    for step in range(3)))
                (place / "metrics.csv").write_text("step,train_loss\n1,3\n2,2\n3,1\n")
            cpu_s.append(min(self.run("report", "--threads", "1", folder).cpu_s for _ in range(2)))
        self.put("beside: CPU of 16,000 ranks with metrics by that of 4,000", cpu_s[1] / cpu_s[0], 5, "")

    def threads(self):
        """192 processors are seen, one is granted: by affinity, by a control group, by Slurm."""
        library = self.scratch / "many_cpus.so"
        source = pathlib.Path(__file__).with_name("many_cpus.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
        trace = self.large_trace()
        one = self.run("trace", "--threads", "1", trace).peak_bytes
        for how, variables in (("affinity", {"GRANTED_CPUS": "1"}),
                               ("cgroup", {"GRANTED_CPUS": "192", "QUOTA_CPUS": "1"}),
                               ("SLURM_CPUS_PER_TASK", {"GRANTED_CPUS": "192", "SLURM_CPUS_PER_TASK": "1"})):
            environment = {"LD_PRELOAD": str(library), **variables}
            run = Run(Command(["env", *(f"{key}={value}" for key, value in environment.items()),
                               str(self.tscope), "trace", str(trace)]))
            self.put(f"threads: memory, 192 CPUs and one granted by {how}", run.peak_bytes / one, 1.2, "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("tscope", type=pathlib.Path)
    parser.add_argument("multiply", type=pathlib.Path, metavar="MULTIPLY_RANKS")
    parser.add_argument("figures", nargs="*", metavar="FIGURE")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("TSCOPE_BENCH_DIR", tempfile.gettempdir())) / "tscope-cluster")
    options = parser.parse_intermixed_args()
    if unknown := set(options.figures) - set(FIGURES):
        parser.error(f"no figure is called {', '.join(unknown)}: {', '.join(FIGURES)}")
    bench = Bench(options)
    try:
        for figure in options.figures or FIGURES:
            getattr(bench, "map_cost" if figure == "map" else figure)()
    finally:
        shutil.rmtree(bench.scratch)
    return bench.over > 0


if __name__ == "__main__":
    sys.exit(main())
