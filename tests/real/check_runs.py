#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole runs: generated ones of 8 ranks whose truth is known, in every layout and compression, and
real ones. Every rank's figures are those of its own trace alone, but for what only several tell,
the slow rank is found, and what `tscope export` writes reads back as the same steps.

usage: check_runs.py TSCOPE
"""
import json
import pathlib
import shutil
import sys
import tempfile

import check_truth
import program

STRAGGLER = 3
LAYOUTS = (("tb", "gz", "classic"), ("composer", "zst", "kineto2026"), ("hta", "none", "compact"),
           ("hta", "gz", "classic"), ("tb", "zst", "compact"), ("composer", "none", "classic"))
# Facts that follow from the steps alone, and must survive an export.
STEP_LEVEL = ("step_time", "budget", "efficiency", "memory", "convergence", "correlation")
# Figures of `distributed` that are made of matched collectives, which an export does not hold.
MATCHED_RUN = ("least_waiting_rank",)
# Those of verdicts, which local time, doubled chances and the replay change.
JUDGED_RUN = ("slow_gain_ns", "slow_gain_ratio", "slow_gain_is_simulated",
              "detectable_excess_ratio", "slow_rank_doubt")
MATCHED_RANK = ("wait_ns", "transfer_ns", "clock_offset_ns", "clock_drift_ppm", "clock_error_ns")
# Exposed communication and its division, which takes the collectives of the other ranks.
SPLIT_HOST = ("comm_total_ns", ("comm_wait_total_ns", "comm_transfer_total_ns",
                                "comm_unsplit_total_ns", "comm_own_total_ns"))
SPLIT_DEVICE = ("exposed_comm_total_ns",
                ("exposed_wait_total_ns", "exposed_transfer_total_ns", "exposed_unsplit_total_ns",
                 "exposed_own_total_ns"))
# Folder, ranks that are there, windows of each.
REAL_RUNS = (
    ("made-torch26/ddp4", range(4), 1),
    ("made-torch26/ddp8-slow5", range(8), 1),
    ("made-torch26/tp2dp4-slow1", range(4), 1),
    ("facebookresearch+param/et_replay/tests/inputs/dlrm_kineto.tar.gz.d/dlrm_kineto", range(4), 1),
    ("facebookresearch+HolisticTraceAnalysis/tests/data/trace_filter", range(2), 1),
    ("harryjmoss+particle_transformer/tensorboard_logs_forward_2024_12_09/batch_size_64",
     (None,), 8),
)

# Folder with traces of more than one job, inputs of each run.
REAL_MIXED = (
    ("AMD-AGI+TraceLens/tests/traces/h100", [1, 1, 1]),
    ("AMD-AGI+TraceLens/tests/traces/mi300", [1, 1, 1, 1]),
    ("harryjmoss+particle_transformer/cpu_tensorboard_logs", [1, 1]),
    ("harryjmoss+particle_transformer/tensorboard_logs_forward_2024_12_09", [8, 2]),
)


def reports(tscope, *paths):
    done = tscope.run("report", "--format", "json", "--full", *paths)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode().strip()}")
    return json.loads(done.stdout)["runs"]


def report(tscope, *paths):
    return reports(tscope, *paths)[0]


def windows(rank):
    """(number, wall) of the steps of a rank: until the next one starts; the last its own length."""
    steps = [(number, start, rank["variants"][variant]) for number, variant, start in rank["steps"]]
    ends = [start for _, start, _ in steps[1:]] + [steps[-1][1] + steps[-1][2]["step"]]
    return [(number, end - start, parts) for (number, start, parts), end in zip(steps, ends)]


def check_slow_rank(results, label, facts):
    distributed = facts["distributed"]
    results.check(label + " straggler", STRAGGLER, (distributed["straggler"] or {}).get("rank"))
    results.check(label + " slow_ranks", [STRAGGLER],
                  [row["rank"] for row in distributed["slow_ranks"]])


def check_rank(results, label, truth, facts):
    check_truth.check_steps(results, label, truth, facts)
    check_truth.check_device(results, label, truth["totals"], facts)
    check_truth.check_flops(results, label, truth, {"facts": facts})
    for (number, wall, parts), step in zip(windows(truth), facts["steps"]["list"]):
        place = f"{label} step {number}"
        results.check(place + " wall", wall, step["wall_ns"])
        results.check(place + " compute", parts["compute"], step["compute_ns"])
        results.check(place + " exposed", parts["comm_exposed"], step["exposed_comm_ns"])


def check_generated(tscope, results, folder, layout):
    name, compression, style = layout
    truth = check_truth.generate(folder, [
        "--ranks", "8", "--steps", "30", "--events-per-step", "300", "--record-shapes",
        "--layout", name, "--straggler", f"{STRAGGLER}:12", "--comm-fraction", "0.25",
        "--overlap", "0.7", "--compress", compression, "--style", style])
    document = report(tscope, folder)
    label = " ".join(layout)
    results.check(label + " ranks", list(range(8)), [r["rank"] for r in document["ranks"]])
    for rank, found in zip(truth["ranks"], document["ranks"]):
        check_rank(results, f"{label} rank {rank['rank']}", rank, found["facts"])
    walls = [[wall for _, wall, _ in windows(rank)] for rank in truth["ranks"]]
    longest = [max(step) for step in zip(*walls)]
    results.check(label + " step_time", (len(longest), max(longest), min(longest)),
                  tuple(document["facts"]["step_time"][k] for k in ("count", "max_ns", "min_ns")))
    means = [round(sum(parts["compute"] for _, _, parts in windows(rank)) / len(longest))
             for rank in truth["ranks"]]
    results.check(label + " mean compute", True, all(
        abs(row["mean_compute_ns"] - mean) <= 1
        for row, mean in zip(document["facts"]["distributed"]["ranks"], means)))
    check_slow_rank(results, label, document["facts"])
    check_export(tscope, results, label, folder, document)


def without(facts, names):
    return {name: value for name, value in facts.items() if name not in names}


def of_steps(distributed):
    """`distributed` as steps alone tell it. Of the ranks of traces local time is judged beside
    compute time, and what they cost is replayed; an export has one table to judge by."""
    if distributed is None:
        return None
    return {**without(distributed, MATCHED_RUN + JUDGED_RUN),
            "ranks": [without(row, (*MATCHED_RANK, "p_value")) for row in distributed["ranks"]],
            "slow_ranks": [row["rank"] for row in distributed["slow_ranks"]
                           if row["basis"] == "compute"]}


def check_matched(results, label, distributed):
    """An export has none of what takes matched collectives."""
    if distributed is None:
        return
    results.check(label + " matched", [],
                  [name for facts, names in ((distributed, MATCHED_RUN),
                                             *((row, MATCHED_RANK) for row in distributed["ranks"]))
                   for name in names if facts[name] is not None])


def check_export(tscope, results, label, source, document):
    """Reading an export gives the same step-level facts, for the run and for each rank."""
    with tempfile.TemporaryDirectory() as place:
        copy = pathlib.Path(place) / "copy"
        done = tscope.run("export", "--quiet", source, "--out", copy)
        said = [line for line in done.stderr.decode().splitlines() if "ranks were read" not in line]
        results.check(label + " export", (0, []), (done.returncode, said))
        again = report(tscope, copy)
    check_matched(results, label + " export", again["facts"].get("distributed"))
    results.check(label + " export distributed", of_steps(document["facts"].get("distributed")),
                  of_steps(again["facts"].get("distributed")))
    for analyzer in STEP_LEVEL:
        results.check(f"{label} export {analyzer}", document["facts"].get(analyzer),
                      again["facts"].get(analyzer))
        for before, after in zip(document["ranks"], again["ranks"]):
            results.check(f"{label} export rank {before['rank']} {analyzer}",
                          before["facts"].get(analyzer), after["facts"].get(analyzer))
    results.check(label + " export ranks", len(document["ranks"]), len(again["ranks"]))


def split(budget, line, parts):
    """A line of a budget, and its parts in a list, where it has any."""
    return budget[line], [budget[part] for part in parts if budget[part] is not None]


def check_split(results, label, alone, in_run):
    """A trace alone does not divide a line; in a run the parts, if known, are the line."""
    for facts, (line, parts) in (("host", SPLIT_HOST), (None, SPLIT_DEVICE)):
        of_alone, of_run = (budget[facts] if facts else budget for budget in (alone, in_run))
        results.check(f"{label} {line} alone", (of_run[line], []), split(of_alone, line, parts))
        whole, found = split(of_run, line, parts)
        if found:
            results.check(f"{label} {line} parts", (len(parts), whole), (len(found), sum(found)))


def undivided(budget):
    """A budget without what other ranks tell."""
    if budget is None:
        return None
    return {**without(budget, SPLIT_DEVICE[1]), "host": without(budget["host"], SPLIT_HOST[1])}


def check_alone(tscope, results, label, document):
    """The figures of a rank with one trace are those of `tscope trace`, but for divided lines."""
    by_rank = {}
    for entry in document["inputs"]:
        by_rank.setdefault(entry["rank"], []).append(entry["path"])
    for rank in document["ranks"]:
        paths = by_rank[rank["rank"]]
        if len(paths) > 1:
            continue
        alone = tscope.report(paths[0])["facts"]
        for analyzer, facts in alone.items():
            place, found = f"{label} rank {rank['rank']} {analyzer}", rank["facts"].get(analyzer)
            if analyzer == "budget" and facts and found:
                check_split(results, place, facts, found)
                facts, found = undivided(facts), undivided(found)
            results.check(place, facts, found)


def check_torch_truth(results, label, folder, document):
    """Steps measured outside the profiler are as long, to 2 ms, as those of the report."""
    for rank in document["ranks"]:
        path = folder / f"truth.rank{rank['rank']}.json"
        if not path.is_file():
            return
        measured = dict(json.loads(path.read_text())["step_ns"])
        off = [step["step"] for step in rank["facts"]["steps"]["list"]
               if abs(step["dur_ns"] - measured[step["step"]]) > 2_000_000]
        results.check(f"{label} rank {rank['rank']} measured steps", [], off)


def check_real(tscope, results, name, ranks, window_count):
    folder = program.SHARED / "data" / name
    document = report(tscope, folder)
    results.check(name + " ranks", list(ranks), [r["rank"] for r in document["ranks"]])
    results.check(name + " windows", window_count,
                  1 + max(entry["window"] for entry in document["inputs"]))
    check_alone(tscope, results, name, document)
    check_torch_truth(results, name, folder, document)
    check_export(tscope, results, name, folder, document)


def check_mixed(tscope, results, label, folder, counts):
    runs = reports(tscope, folder)
    results.check(label + " runs", counts, [len(run["inputs"]) for run in runs])


def check_rerun(tscope, results, folder):
    """Two jobs of four ranks whose handlers wrote into one folder: each as it is alone."""
    alone = []
    for job, ending in (("ddp4", "json"), ("tp2dp4-slow1", "json.gz")):
        source = program.SHARED / "data/made-torch26" / job
        alone.append(report(tscope, source)["facts"]["step_time"])
        for rank in range(4):
            shutil.copy(source / f"rank{rank}.pt.trace.{ending}",
                        folder / f"node_{job}{rank}.pt.trace.{ending}")
    runs = reports(tscope, folder)
    results.check("rerun in one folder", alone, [run["facts"]["step_time"] for run in runs])


def main():
    program.need(program.SHARED / "tools" / "gen_trace.py")
    tscope = program.Program(sys.argv[1])
    results = program.Results()
    for layout in LAYOUTS:
        if "zst" in layout and not shutil.which("zstd"):
            print("not generated: zst, the generator needs the program zstd")
            continue
        with tempfile.TemporaryDirectory() as folder:
            check_generated(tscope, results, pathlib.Path(folder), layout)
    for name, ranks, window_count in REAL_RUNS:
        check_real(tscope, results, name, ranks, window_count)
    for name, counts in REAL_MIXED:
        check_mixed(tscope, results, name, program.SHARED / "data" / name, counts)
    with tempfile.TemporaryDirectory() as folder:
        check_rerun(tscope, results, pathlib.Path(folder))
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
