#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of several ranks, from others and generated: what tscope says across ranks, against what was
published, injected or is computed here anew.

usage: check_ranks.py TSCOPE [--all]    --all: print what agrees as well

Where definitions differ:

- kineto's tb_plugin takes for the time of a collective the operator on the host and its kernel
  together, joined where they overlap, and for its "real" time the least of the workers of either.
  Of test_distributed_nccl it publishes 1558 → 1133 us for the all-reduce: the kernel's part is
  1556 → 1058, and 75 are the operator. tscope counts kernels: 1058 us are transfer, 498 are
  waiting. It divides the broadcast, too (75 → 36); tscope does not, since its members do not end
  together. Of test_distributed_gloo_cpu both count operators, but tb_plugin joins those of one kind
  that overlap, so that the 18 and 36 us of worker 0 count as 46.
- Its overlap is that of the host's 235 us; tscope's one step ends with the device's work.
- StragglerAnalysis: S is the mean step, without delays of launches, by a step in which each
  compute takes the mean of its kind and each transfer the median of its kind. It is computed anew
  here from its timeline (straggler_ideal.py: 1.1794, published 1.1787), a gain of 330.9 ms
  (published 329.4). tscope's balanced step wins 278.7, because it changes less. On the timeline:
    281.0  each rank has the mean work of all, launch delays included, which S leaves out and which
           are 28 ms a rank and step; forward and backward keep the rank's shares
    286.1  the same for computes alone
    296.4  forward, backward and optimizer equally long on all ranks, each
    302.4  all computes of a kind alike, in every microbatch and step
    330.9  each transfer takes the median of its kind as well: noise of the network, not balance
  tscope stays with the first: moving layers between stages can reach it. Its steps start up to
  0.25 ms before their first span.
- Members of gloo's collectives end apart where more threads run than cores: by 12 % of the step
  in ddp4, by 18 % in ddp8-slow5. Played as if all ended together, with the shortest duration as
  the transfer, the unchanged steps came out 7.2 % and 9.2 % too short (0.5 % in tp2dp4-slow1).
  What a member took after the first end is kept now, less the noise of the clocks: 0.2 %, 0.2 %
  and 0.1 % off. That such spread may itself change is a doubt (end_spread_ratio), not an error.
- S by stage and M_S (1.219) say that the last stage is the cause. Its two ranks are alike, so that
  tscope names no rank but the stage: the busiest one.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import program

sys.path.insert(0, str(program.SOURCE_ROOT / "tests/reference"))

import convert_straggler_timeline  # noqa: E402: found by the line above
import make_ranks  # noqa: E402
import straggler_ideal  # noqa: E402

US, MS = 1_000, 1_000_000
MADE = program.DATA / "made-torch26"
KINETO = program.DATA / "pytorch+kineto/inline/tb_plugin_test_profiler"
HTA = program.DATA / "facebookresearch+HolisticTraceAnalysis/tests/data"
DLRM = program.DATA / ("facebookresearch+param/et_replay/tests/inputs/dlrm_kineto.tar.gz.d/"
                       "dlrm_kineto")
STRAGGLER = program.DATA / "ByteDance-Seed+StragglerAnalysis/data"
GENERATOR = program.SHARED / "tools/gen_trace.py"
GLOO_MAKER = program.SOURCE_ROOT / "tests/reference/make_gloo_ranks.py"
# Folder: rank with the least, collectives of a rank, ms of gloo: least, median, most.
MADE_HERE = {
    "ddp4": (2, 16, 172.5, 402.9, 432.8),
    "tp2dp4-slow1": (0, 15, 172.8, 237.1, 261.2),
    "ddp8-slow5": (5, 24, 909.0, 1053.9, 1110.4),
}
# Recorded when the test runs: ranks, which of them sleeps, for how many ms, in how many steps.
RECORDED = ((16, 11, 200, 15), (32, 17, 400, 12), (64, 41, 800, 9))
RECORDING_LIMIT_S = 120
# Sets of make_ranks.py whose steps are taken apart.
PARTS_OF = ("--steps 6 --clock-ms 50 --end-noise-ns 300000",
            "--steps 6 --plan fsdp --end-noise-ns 100000 --fault slow_host --fault-rank 2 "
            "--fault-size 0.2",
            "--steps 6 --plan pp --stages 4 --clock-ms 50 --drift-ppm 50 --missing 2",
            "--steps 6 --plan tp --tensor 2 --whole-us --missing 3 --hiccups 0.2")
GENERATED = [(size, overlap) for size in (2, 5) for overlap in (0, 0.5, 0.9)]


def run_of(tscope, *paths):
    done = tscope.run("report", "--format", "json", "--full", *paths)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode().strip()}")
    return json.loads(done.stdout)["runs"][0]


def report(tscope, *paths):
    return run_of(tscope, *paths)["facts"]


def ranks_of(facts):
    return {row["rank"]: row for row in facts["distributed"]["ranks"]}


def fact(facts, analyzer, name):
    return facts.get(analyzer, {}).get(name)


def check_complete(name, facts, matched, results):
    """All collectives match."""
    for key, expected in (("matched_count", matched), ("mismatched_count", 0),
                          ("missing_count", 0), ("surplus_count", 0)):
        results.check(f"{name} {key}", expected, fact(facts, "process_groups", key))


def check_nobody(name, facts, results):
    """Nobody is named."""
    results.check(f"{name} slow ranks", [], facts["distributed"].get("slow_ranks") or [])
    results.check(f"{name} stragglers", [], fact(facts, "stragglers", "causes") or [])
    results.check(f"{name} slow links", [], fact(facts, "transfers", "slow_links") or [])


# ---- generated: gen_trace.py ----------------------------------------------------------------


def check_generated(tscope, results, size, overlap):
    """All collectives end together on all ranks there, so all of this is exact."""
    name = f"gen_trace {size} % overlap {overlap}"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, GENERATOR, folder, "--ranks", "8", "--steps", "20",
                        "--events-per-step", "1500", "--straggler", f"5:{size}", "--overlap",
                        str(overlap), "--clock-skew-us", "50000"], check=True, capture_output=True)
        truth = json.loads((pathlib.Path(folder) / "truth.json").read_text())
        facts = report(tscope, folder)
        check_parts(tscope, name, results, folder)
    rows = ranks_of(facts)
    for row in truth["ranks"]:
        rank, found = row["rank"], rows[row["rank"]]
        offset = row["clock_skew_ns"] - truth["ranks"][0]["clock_skew_ns"]
        results.near(f"{name} rank {rank} clock_offset_ns", offset, found.get("clock_offset_ns"),
                     found.get("clock_error_ns") or 0)
        both = [found.get(key) for key in ("wait_ns", "transfer_ns")]
        results.check(f"{name} rank {rank} wait + transfer", row["totals"]["comm"],
                      None if None in both else sum(both))
    transfers = {found.get("transfer_ns") for found in rows.values()}
    results.check(f"{name} transfer is equal", 1, len(transfers))
    matched = truth["ranks"][0]["totals"]["collectives"]
    check_complete(name, facts, matched, results)
    results.check(f"{name} least_waiting_rank", 5, facts["distributed"].get("least_waiting_rank"))
    slow = [row["rank"] for row in facts["distributed"].get("slow_ranks") or []]
    is_named = size >= 3  # per cent: healthy ranks may differ by less
    results.check(f"{name} slow ranks", [5] if is_named else [], slow)
    results.check(f"{name} cause", "slow_clock" if is_named else None,
                  fact(facts, "stragglers", "cause"))
    check_simulation(name, facts, results)


def check_simulation(name, facts, results):
    results.near(f"{name} simulation error", 0, fact(facts, "what_if", "simulation_error_ratio"),
                 0.02)


# ---- recorded: torch 2.6 on a CPU, gloo -----------------------------------------------------


def gloo_ns(path):
    """Durations of a rank's gloo collectives in the order of time."""
    events = read_events(path)
    return [round(1000 * event["dur"]) for event in events
            if event["name"].startswith("gloo:") and event.get("cat") == "user_annotation"]


def read_events(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path) as file:
        trace = json.load(file)
    return sorted((event for event in trace["traceEvents"] if event.get("ph") == "X"),
                  key=lambda event: event["ts"])


def check_made(tscope, results):
    for folder, (least, count, *published) in MADE_HERE.items():
        run = run_of(tscope, MADE / folder)
        facts = run["facts"]
        rows = ranks_of(facts)
        sums = [(row.get("wait_ns") or 0) + (row.get("transfer_ns") or 0) for row in rows.values()]
        found = [min(sums), statistics.median_high(sums), max(sums)]
        for what, expected, value in zip(("least", "median", "most"), published, found):
            results.near(f"{folder} {what} gloo ms", expected, value / MS, 0.06)
        for rank, value in zip(rows, sums):
            path = next((MADE / folder).glob(f"rank{rank}.pt.trace.json*"))
            durations = gloo_ns(path)
            results.check(f"{folder} rank {rank} collectives", count, len(durations))
            results.check(f"{folder} rank {rank} gloo ns", sum(durations), value)
        results.check(f"{folder} least_waiting_rank", least,
                      facts["distributed"].get("least_waiting_rank"))
        for key in ("mismatched_count", "missing_count", "surplus_count"):
            results.check(f"{folder} {key}", 0, fact(facts, "process_groups", key))
        check_simulation(folder, facts, results)
        if folder.startswith("ddp"):  # every rank takes part in every collective
            check_spread(folder, facts, results)
        check_injected(folder, facts, results)
        check_first(folder, run["findings"][0], results)


def check_first(folder, finding, results):
    """The first line names the rank that slept, and the annotation that it slept in."""
    sleeper = json.loads((MADE / folder / "config.json").read_text())["slow_rank"]
    results.check(f"{folder} first finding's rank", sleeper, finding["subject"].get("rank"))
    results.check(f"{folder} first finding names rank and place", [True, True],
                  [f"rank {sleeper} " in finding["title"], "injected_delay" in finding["title"]])


def check_spread(folder, facts, results):
    """All ranks ran on one host, so their clocks are one: how far apart members ended is known.

    tscope does not know that, and takes off what the clocks that it finds may be wrong by.
    """
    ranks = [read_events(path) for path in sorted((MADE / folder).glob("rank*.pt.trace.json*"))]
    gloo = [[event["ts"] + event["dur"] for event in events
             if event["name"].startswith("gloo:") and event.get("cat") == "user_annotation"]
            for events in ranks]
    tails = sum(end - min(ends) for ends in zip(*gloo) for end in ends)
    spread = tails / sum(sum(lengths.values()) for lengths in map(steps_of, ranks))
    results.near(f"{folder} end spread", 0.8 * spread,
                 fact(facts, "what_if", "end_spread_ratio"), 0.2 * spread)


def steps_of(events):
    """us of each of a rank's steps."""
    return {int(event["name"].split("#")[1]): event["dur"] for event in events
            if event["name"].startswith("ProfilerStep#") and event.get("cat") == "user_annotation"}


def check_sleeper(folder, config, facts, results):
    """What it wins if the rank that slept did not: what the steps with sleep took longer."""
    slow, others = [], []
    for path in sorted((MADE / folder).glob("rank*.pt.trace.json*")):
        for step, length in steps_of(read_events(path)).items():
            (slow if step in config["slow_steps"] else others).append(length / 1000)
    longer = statistics.fmean(slow) - statistics.fmean(others)
    results.check(f"{folder} straggler_rank", config["slow_rank"],
                  fact(facts, "what_if", "straggler_rank"))
    results.near(f"{folder} gain without sleep ms", longer * len(slow) / len(slow + others),
                 fact(facts, "what_if", "no_straggler_gain_ns") / MS, 5)


def check_injected(folder, facts, results):
    """In the steps in which a rank slept, it is the latest of all in the heat strip."""
    config = json.loads((MADE / folder / "config.json").read_text())
    check_sleeper(folder, config, facts, results)
    columns = fact(facts, "stragglers", "heat") or {}
    rows = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
    for step in config["slow_steps"]:
        here = [row for row in rows if row["first_step"] <= step <= row["last_step"]]
        latest = max(here, key=lambda row: row["lateness_ratio"] or 0, default={})
        results.check(f"{folder} latest rank in step {step}", config["slow_rank"],
                      latest.get("first_rank"))


# ---- recorded here, if PyTorch is ----------------------------------------------------------------


def torch_python():
    """Words of a command that runs Python with PyTorch, or None. TSCOPE_TORCH_PYTHON goes first."""
    for words in (os.environ.get("TSCOPE_TORCH_PYTHON", "").split(), [sys.executable],
                  ["/usr/bin/python3"]):
        try:
            if words and subprocess.run([*words, "-c", "import torch"], capture_output=True,
                                        check=False).returncode == 0:
                return words
        except OSError:
            pass
    return None


def check_recorded(tscope, results, python):
    """Real jobs of which one rank sleeps: it has most time of its own, and what that costs is what
    is won without it. Another may be named only where events show that others wait for it."""
    for ranks, sleeper, sleep_ms, steps in RECORDED:
        name = f"gloo {ranks} ranks"
        with tempfile.TemporaryDirectory() as folder:
            made = f"{folder}/made"
            command = [*python, GLOO_MAKER, made, "--ranks", str(ranks), "--slow-rank",
                       str(sleeper), "--slow-ms", str(sleep_ms), "--steps", str(steps)]
            # A process that hangs must not keep the others, which are in its session.
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True) as recording:
                try:
                    is_made = recording.wait(RECORDING_LIMIT_S) == 0
                except subprocess.TimeoutExpired:
                    os.killpg(recording.pid, signal.SIGKILL)
                    is_made = False
            if not is_made:
                print(f"{name}: not recorded within {RECORDING_LIMIT_S} s")
                continue
            truth = json.loads(pathlib.Path(f"{made}/truth").read_text())
            facts = report(tscope, made)
            check_sleep(name, truth, facts, results)
            check_others(name, sleeper, facts, shorter_ns(made, truth["options"]), results)
            check_named(tscope, name, sleeper, made, results)
            check_parts(tscope, name, results, made)


def check_named(tscope, name, sleeper, made, results):
    """The first line names the rank; or steps, said to be too few, do not show it."""
    done = json.loads(tscope.run("report", "--format", "json", "--full", made).stdout)["runs"][0]
    findings = [found for found in done["findings"] if found["id"] == "DIST.STRAGGLER"]
    doubt = fact(done["facts"], "distributed", "slow_rank_doubt") or ""
    if "too few" in doubt and not findings:
        return
    titles = [found["title"].split("late, most of all ")[-1] for found in findings]
    results.check(f"{name} named", [f"rank {sleeper}"],
                  [re.match(r"rank \d+|", title).group() for title in titles])
    waits = done["facts"]["budget"]["host"]
    if waits["comm_wait_total_ns"] > waits["comm_transfer_total_ns"]:
        results.check(f"{name} first finding", "DIST.STRAGGLER", done["findings"][0]["id"])


def check_sleep(name, truth, facts, results):
    sleeper = truth["options"]["slow_rank"]
    own = {row["rank"]: row["local_ns"] for row in fact(facts, "stragglers", "ranks") or []}
    results.check(f"{name} most time of its own", sleeper, max(own, key=own.get, default=None))
    results.check(f"{name} straggler_rank", sleeper, fact(facts, "what_if", "straggler_rank"))
    gain, error = fact(facts, "what_if", "no_straggler_gain_ns"), truth["exposed_error_ns"]
    results.check(f"{name} gain by what its sleep costs is within 1.5", True,
                  (truth["exposed_ns"] - error) / 1.5 <= gain <=
                  (truth["exposed_ns"] + error) * 1.5)


def shorter_ns(made, options):
    """By rank: by how much its collectives of a step are shorter than the median rank's, where they
    are, that is, how much longer others wait then. The one that sleeps is not among these."""
    lengths = {}
    for rank in range(options["ranks"]):
        trace = json.loads(pathlib.Path(f"{made}/rank{rank}.pt.trace.json").read_text())
        events = trace if isinstance(trace, list) else trace["traceEvents"]
        lengths[rank] = [event["dur"] * US for event in sorted(events, key=lambda it: it["ts"])
                         if event["name"].startswith("gloo:") and event.get("ph") == "X"]
    awake = [own for rank, own in lengths.items() if rank != options["slow_rank"]]
    usual = [statistics.median(each) for each in zip(*awake)]
    return {rank: sum(max(them - its, 0) for them, its in zip(usual, own)) / options["steps"]
            for rank, own in lengths.items()}


def check_others(name, sleeper, facts, shorter, results):
    """Of those that are named beside the sleeper, events show what they are said to cost."""
    rows = facts["distributed"].get("slow_ranks") or []
    results.check(f"{name} others named whom nobody waits for", [],
                  [row["rank"] for row in rows if row["rank"] != sleeper and
                   not shorter[row["rank"]] * 1.5 >= row["gain_ns"]])


# ---- what each step is made of ------------------------------------------------------------------


def check_parts(tscope, name, results, *paths):
    """Own time, waiting, transfer and what is undivided are the wall time of each step of each
    rank; own time is that by which ranks are compared."""
    with tempfile.TemporaryDirectory() as folder:
        done = tscope.run("export", *paths, "--out", f"{folder}/out")
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode().strip()}")
        ranks = {int(path.parent.name.removeprefix("rank")): steps_in(path)
                 for path in pathlib.Path(folder, "out").glob("rank*/steps.jsonl")}
    common = set.intersection(*({step["step"] for step in steps if "mark" not in step}
                                for steps in ranks.values()))
    local = {row["rank"]: row["local_ns"]
             for row in fact(report(tscope, *paths), "stragglers", "ranks") or []}
    bad, means = [], {}
    for rank, steps in ranks.items():
        own = {step["step"]: own_ns(step) for step in steps}
        bad += [(rank, step) for step, ns in own.items() if ns is None]
        counted = [ns for step, ns in own.items() if step in common and ns is not None]
        means[rank] = statistics.fmean(counted) if counted else None
    results.check(f"{name} steps whose parts are not the wall time", [], bad)
    for rank, mean in local.items():
        results.near(f"{name} rank {rank} own time", mean, means.get(rank), 1)


def steps_in(path):
    steps = [json.loads(line) for line in path.read_text().splitlines()]
    return [step for step in steps if "wall_ns" in step]


def own_ns(step):
    """Time of a step in which its rank did not stand still; None where the parts do not add up."""
    lines = step.get("budget_ns") or step.get("host_budget_ns")
    exposed = lines.get("exposed_comm", lines.get("comm"))
    parts = step.get("exposed_ns", {"unsplit": exposed})
    own = sum(lines.values()) - exposed + parts.get("own", 0)
    still = sum(ns for part, ns in parts.items() if part != "own")
    if min(*lines.values(), *parts.values(), own) < 0 or own + still != step["wall_ns"]:
        return None
    return own


def check_all_parts(tscope, results):
    for folder in MADE_HERE:
        check_parts(tscope, folder, results, MADE / folder)
    check_parts(tscope, "dlrm", results, DLRM)
    check_parts(tscope, "trace_filter", results, HTA / "trace_filter")
    for options in PARTS_OF:
        with tempfile.TemporaryDirectory() as folder:
            make_ranks.make(folder, options.split())
            check_parts(tscope, f"make_ranks {options}", results, folder)


# ---- recorded: old NCCL without metadata ----------------------------------------------------


def by_order(paths, word):
    """ns of kernels with this word in their name: a list for each rank, in the order of time."""
    return [[round(1000 * event["dur"]) for event in read_events(path)
             if str(event.get("cat")).lower() == "kernel" and word in event["name"]]
            for path in paths]


def check_old_nccl(tscope, results):
    """Order and kind alone tell which kernel is which; all ranks have the same ones."""
    paths = sorted(DLRM.glob("worker*"))
    facts = report(tscope, DLRM)
    reductions = by_order(paths, "AllReduce")
    transfer = sum(map(min, zip(*reductions)))
    row = next((row for row in fact(facts, "transfers", "by_kind") or []
                if row["kind"] == "all_reduce"), {})
    results.check("dlrm all_reduce transfer ns", transfer, row.get("transfer_ns"))
    results.check("dlrm all_reduce count", 3, row.get("count"))
    results.check("dlrm missing ranks", [4, 5, 6, 7],
                  facts["distributed"].get("missing_ranks"))
    for key in ("mismatched_count", "missing_count", "surplus_count"):
        results.check(f"dlrm {key}", 0, fact(facts, "process_groups", key))
    check_nobody("dlrm", facts, results)
    check_simulation("dlrm", facts, results)
    facts = report(tscope, HTA / "trace_filter")
    results.check("trace_filter missing ranks", 126, facts["distributed"]["missing_rank_count"])
    check_nobody("trace_filter", facts, results)


# ---- published: kineto's tb_plugin ----------------------------------------------------------


def check_tb_plugin(tscope, results):
    for name, waits, transfer in (("nccl", (498, 0), 1058), ("gloo_cpu", (20, 20), 34)):
        with tempfile.TemporaryDirectory() as folder:
            for number in (0, 1):
                shutil.copy(KINETO / f"test_distributed_{name}.{number}.json",
                            f"{folder}/worker{number}.pt.trace.json")
            facts = report(tscope, folder)
            check_parts(tscope, f"tb_plugin {name}", results, folder)
        rows = list(facts["distributed"]["ranks"])
        for number, wait in enumerate(waits):
            results.check(f"tb_plugin {name} worker {number} waits", wait * US,
                          rows[number].get("wait_ns"))
            results.check(f"tb_plugin {name} worker {number} transfers", transfer * US,
                          rows[number].get("transfer_ns"))


# ---- published: StragglerAnalysis -----------------------------------------------------------


def straggler_steps(rows, job):
    """The timeline's steps as ops, and their lengths in ns."""
    steps, lengths = [], {}
    for number, row in sorted(rows.items()):
        spans, length = convert_straggler_timeline.spans_of(row, job)
        key_of = lambda span: convert_straggler_timeline.key_of(span, job)
        steps.append(straggler_ideal.ops_of(spans, key_of))
        lengths[number] = length - convert_straggler_timeline.BARRIER_NS
    return steps, lengths


def check_timeline(published, steps, lengths, results):
    """The publisher's figures from the timeline: what they mean."""
    for number, seconds in published["step_t_base"].items():
        results.near(f"ST step {number} ns", round(seconds * 1e9), lengths[int(number)], 250 * US)
    results.near("ST slowdown anew", published["blocking_slowdown"],
                 straggler_ideal.slowdown(steps)[0], 0.002)
    for stage, slowdown in published["blocking_decompose_by_stage"].items():
        ranks = {2 * int(stage), 2 * int(stage) + 1}
        results.near(f"ST slowdown of stage {stage} anew", slowdown,
                     straggler_ideal.slowdown_of_stage(steps, ranks), 0.003)


def check_gains(facts, published, steps, results):
    """What repairs win, against the timeline played anew; delays of launches are in neither."""
    what_if = facts["what_if"]
    delay = statistics.fmean(published["step_t_base"][step] - published["step_t_nodelay"][step]
                             for step in published["step_t_base"])
    lines = {row["line"]: row["gain_ns"] for row in what_if["lines"]}
    results.near("ST gain without launch delays ms", 1000 * delay,
                 sum(lines.get(name, 0) for name in ("launch_stall", "device_gap")) / MS, 6)
    _, played, _ = straggler_ideal.slowdown(steps)
    transfer = (played - straggler_ideal.mean_without_transfers(steps)) / MS
    results.near("ST gain of an ideal network ms", transfer,
                 what_if["ideal_network_gain_ns"] / MS, 2)
    results.near("ST transfer on the path across ranks ms", transfer,
                 facts["cross_rank_path"]["transfer_ns"] / MS, 2)
    gains = [gain / MS for gain in straggler_ideal.balanced_gains(steps)]
    ideal = 1000 * statistics.fmean(published["step_t_noblk"].values())
    results.near("ST gain of all repairs anew ms", ideal * (published["blocking_slowdown"] - 1),
                 gains[-1], 2)
    results.near("ST gain of equal ranks ms", gains[0], what_if["balanced_gain_ns"] / MS, 9)
    for expected, gain in zip((286.1, 296.4, 302.4, 330.9), gains):
        results.near("ST gain on the way to all repairs ms", expected, gain, 0.1)


def check_stragglers(facts, lengths, results):
    mean = statistics.fmean(lengths.values())
    results.near("ST mean step ns", mean, fact(facts, "what_if", "step_ns"), 0.0005 * mean)
    check_simulation("ST", facts, results)
    results.check("ST slow ranks", [], facts["distributed"].get("slow_ranks") or [])
    results.check("ST stages", 4, fact(facts, "pipeline", "stage_count"))
    results.check("ST busiest stage", 3, fact(facts, "pipeline", "busiest_stage"))
    results.check("ST microbatches", 4, fact(facts, "pipeline", "microbatch_count"))
    for key in ("mismatched_count", "missing_count", "surplus_count"):
        results.check(f"ST {key}", 0, fact(facts, "process_groups", key))


def check_bytedance(tscope, results):
    rows, dp_size, stage_count = convert_straggler_timeline.read(STRAGGLER / "timeline-ST.json.gz")
    job = convert_straggler_timeline.Job(dp_size, stage_count)
    published = json.loads((STRAGGLER / "result-ST.json").read_text())
    steps, lengths = straggler_steps(rows, job)
    check_timeline(published, steps, lengths, results)
    with tempfile.TemporaryDirectory() as folder:
        convert_straggler_timeline.convert(STRAGGLER / "timeline-ST.json.gz", pathlib.Path(folder))
        facts = report(tscope, folder)
        check_parts(tscope, "ST", results, folder)
    check_stragglers(facts, lengths, results)
    check_gains(facts, published, steps, results)


def main():
    program.need(GENERATOR)
    program.need(STRAGGLER)
    tscope = program.Program(sys.argv[1])
    results = program.Results("--all" in sys.argv[2:])
    for size, overlap in GENERATED:
        check_generated(tscope, results, size, overlap)
    check_made(tscope, results)
    check_all_parts(tscope, results)
    if python := torch_python():
        check_recorded(tscope, results, python)
    else:
        print("no Python with PyTorch: no job is recorded")
    check_old_nccl(tscope, results)
    check_tb_plugin(tscope, results)
    check_bytedance(tscope, results)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
