# SPDX-License-Identifier: MIT
"""Runs commands in turns, and holds what they cost against each other and against marks."""
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
import typing

CPUS = sorted(os.sched_getaffinity(0))
SPIN = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"  # never outlives us


class Command(typing.NamedTuple):
    """What is run. piped: a file that the command reads from a pipe; cpu: where it has to stay."""
    arguments: list
    piped: pathlib.Path | None = None
    cpu: int | None = None

    def is_there(self):
        return shutil.which(self.arguments[0]) is not None


class Run:
    """
    What one run of a command cost. Its peak memory is not below that of this program, of which it
    starts as a copy: reports, which may be large, are read by programs of their own.
    """

    def __init__(self, command, statuses=(0,)):
        with feeder(command.piped) as standard_input, pinned(command.cpu):
            start = time.perf_counter()
            child = subprocess.Popen(command.arguments, stdin=standard_input,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            self.wall_s = time.perf_counter() - start
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_bytes = usage.ru_maxrss * 1024
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in statuses:
            raise RuntimeError(f"{' '.join(map(str, command.arguments))}: "
                               f"exit {child.returncode}")


@contextlib.contextmanager
def feeder(path):
    """The end of a pipe that a file comes out of."""
    if path is None:
        yield subprocess.DEVNULL
        return
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        yield cat.stdout


@contextlib.contextmanager
def pinned(cpu):
    """What is started meanwhile stays on this CPU."""
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        if cpu is not None:
            os.sched_setaffinity(0, CPUS)


@contextlib.contextmanager
def busy_cpu(is_wanted):
    """Keeps the last CPU busy meanwhile."""
    if not is_wanted:
        yield
        return
    with pinned(CPUS[-1]):
        spinner = subprocess.Popen([sys.executable, "-c", SPIN])
    try:
        yield
    finally:
        spinner.kill()
        spinner.wait()


def measure(table, rounds):
    """
    Name → the runs of each command, one a round, so that each ratio is of runs made in the same
    minute. The first round only warms the caches. A command that is not on this machine is left
    out.
    """
    table = {name: command for name, command in table.items() if command.is_there()}
    runs = {name: [] for name in table}
    for number in range(rounds + 1):
        for name, command in table.items():
            run = Run(command)
            if number > 0:
                runs[name].append(run)
    return runs


def print_runs(title, runs, sizes):
    """sizes: name → how many bytes its command goes through; where it stands there."""
    print(f"\n{title}\n{'':36} {'min s':>8} {'median s':>9} {'max s':>8} {'CPU s':>8} {'GB/s':>6} "
          f"{'peak MB':>8}")
    for name, made in runs.items():
        walls = sorted(run.wall_s for run in made)
        middle = statistics.median(walls)
        speed = f"{sizes[name] / middle / 1e9:6.2f}" if name in sizes else ""
        print(f"{name:36} {walls[0]:8.4f} {middle:9.4f} {walls[-1]:8.4f} "
              f"{statistics.median(run.cpu_s for run in made):8.4f} {speed:6} "
              f"{peak(made) / 1e6:8.1f}")


# ---- figures of runs -----------------------------------------------------------------------


def median_wall(made):
    return statistics.median(run.wall_s for run in made)


def peak(made):
    return max(run.peak_bytes for run in made)


def ratio(runs, name, peer, time_of=lambda run: run.wall_s):
    """Median over the rounds of a command's time to that of its peer in the same round."""
    return statistics.median(time_of(mine) / time_of(other)
                             for mine, other in zip(runs[name], runs[peer]))


def least_cpu(made):
    return min(run.cpu_s for run in made)


# ---- marks ---------------------------------------------------------------------------------


class Mark(typing.NamedTuple):
    """
    One line of the table. figure: None is "not measured"; at_most: None is "for orientation";
    cpu: the figure by CPU time, which other programs disturb less; mine and peer: the figures whose
    ratio it is; note: what else has to be said.
    """
    number: int
    what: str
    figure: float | None
    at_most: float | None = None
    stretch: float | None = None
    mine: str = ""
    peer: str = ""
    note: str = ""
    cpu: float | None = None

    def verdict(self):
        if self.figure is None:
            return "not measured"
        if self.at_most is None:
            return ""
        if self.stretch is not None and self.figure <= self.stretch:
            return "stretch reached"
        return "reached" if self.figure <= self.at_most else "NOT REACHED"


def seconds(value):
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1e3:.1f} ms"


def megabytes(value):
    return f"{value / 1e6:.1f} MB"


def compare(number, what, runs, name, peer, at_most=None, stretch=None):
    """The mark of a command's wall against its peer's."""
    missing = [one for one in (name, peer) if one not in runs]
    if missing:
        return Mark(number, what, None, at_most, stretch, note=f"no {', '.join(missing)}")
    return Mark(number, what, ratio(runs, name, peer), at_most, stretch,
                seconds(median_wall(runs[name])), seconds(median_wall(runs[peer])),
                cpu=ratio(runs, name, peer, lambda run: run.cpu_s or float("nan")))


def milliseconds(number, what, made, at_most, note=""):
    """The mark of a command that has no peer: the least of many short runs."""
    return Mark(number, f"{what}, milliseconds", min(run.wall_s for run in made) * 1e3, at_most,
                mine=seconds(median_wall(made)), note=note, cpu=least_cpu(made) * 1e3)


def rows(marks):
    """For programs."""
    return [{**mark._asdict(), "verdict": mark.verdict()} for mark in marks]


def print_marks(marks):
    print(f"\n{'marks':65} {'figure':>8} {'by CPU':>8} {'mark':>7} {'stretch':>7} {'tscope':>10} "
          f"{'peer':>10}")
    for mark in marks:
        limits = [f"{value:.3f}" if value is not None else ""
                  for value in (mark.figure, mark.cpu, mark.at_most, mark.stretch)]
        print(f"{mark.number} {mark.what:63} {limits[0]:>8} {limits[1]:>8} {limits[2]:>7} {limits[3]:>7} "
              f"{mark.mine:>10} {mark.peer:>10}  {mark.verdict()}"
              f"{f' ({mark.note})' if mark.note else ''}")
