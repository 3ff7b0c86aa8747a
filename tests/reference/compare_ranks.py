#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `tscope report` on sets of traces of all ranks of a job (make_ranks.py) and compares what
it says across ranks with what is true: waiting and transfer (to the ns), clocks (within the error
that is stated), who is slow and why, slow links, what repairs would win, pipelines, experts,
missing ranks.

usage: compare_ranks.py TSCOPE [ROUNDS [FIRST_SEED]]   each case with ROUNDS seeds
       compare_ranks.py TSCOPE --healthy COUNT [FIRST_SEED]
           jobs of all kinds without a fault: at most one of 200 may name a rank or a link
       compare_ranks.py TSCOPE --case NAME [SEED [FOLDER]]   one set, kept in FOLDER
"""
import functools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import make_ranks
import seeds

# What a simulation of the unchanged run may be off by, and what a gain.
MOST_SIMULATION_ERROR = 0.02
GAIN_TOLERANCE, STEP_TOLERANCE = 0.1, 0.005
# Steps are simulated on the device's time. A host that works on beneath a collective may be what
# the device has to wait for next, so that repairing the collective wins less.
HOST_STEP_TOLERANCE = 0.02
EXPOSED_TOLERANCE = 0.02
RATIO_TOLERANCE = 0.02
LEAST_EXCESS = 0.03  # of a rank that is named: healthy ones may differ by as much
CAUSES = {"larger_work": "more_work"}
PERSISTENT = ("slow_clock", "slow_kernels", "more_work", "larger_work", "slow_host", "slow_loader")

CLOCKS = "--clock-ms 50 --drift-ppm 50"
CASES = {
    **{f"{size}-overlap{overlap}":
       f"{CLOCKS} --fault slow_clock --fault-rank 5 --fault-size {size} --overlap {overlap}"
       for size in (0.02, 0.05, 0.2) for overlap in (0, 0.5, 0.9)},
    "short": f"{CLOCKS} --steps 6 --fault slow_clock --fault-rank 4 --fault-size 0.1",
    "hiccups": f"{CLOCKS} --hiccups 0.03 --fault slow_clock --fault-rank 2 --fault-size 0.05",
    "fast": f"{CLOCKS} --fault slow_clock --fault-rank 2 --fault-size -0.1",
    "checkpoint": f"{CLOCKS} --checkpoint-steps 8 --broadcast",
    "stalls": f"{CLOCKS} --checkpoint-steps 8 --broadcast --steps 32",
    "two": f"{CLOCKS} --fault slow_clock --fault-rank 1 6 --fault-size 0.08",
    "node": f"{CLOCKS} --ranks 16 --host-ranks 4 --fault slow_clock --fault-rank 8 9 10 11 "
            "--fault-size 0.06",
    "whole-us": f"{CLOCKS} --whole-us --metadata none --fault slow_loader --fault-rank 3 "
                "--fault-size 0.1",
    "whole-us-fsdp": f"{CLOCKS} --whole-us --plan fsdp --metadata no_seq --fault slow_clock "
                     "--fault-rank 3 --fault-size 0.1",
    "64-ranks": f"{CLOCKS} --ranks 64 --fault slow_clock --fault-rank 37 --fault-size 0.05",
    "kernels": f"{CLOCKS} --fault slow_kernels --fault-rank 2 --fault-size 0.15",
    "more": "--fault more_work --fault-rank 3 --fault-size 0.15",
    "larger": "--fault larger_work --fault-rank 7 --fault-size 0.1",
    "host": f"{CLOCKS} --fault slow_host --fault-rank 1 --fault-size 0.1",
    "loader": f"{CLOCKS} --fault slow_loader --fault-rank 6 --fault-size 0.1",
    "link-tp": f"{CLOCKS} --plan tp --tensor 2 --host-ranks 4 --fault slow_link "
               "--fault-group tp4 --fault-size 0.5",
    "link-dp": "--plan tp --tensor 4 --ranks 16 --host-ranks 4 --fault slow_link "
               "--fault-group dp2 --fault-size 1",
    "link-pp": "--plan pp --stages 4 --fault slow_link --fault-group pp2_4 --fault-size 2",
    "tp": f"{CLOCKS} --plan tp --tensor 2 --fault slow_clock --fault-rank 3 --fault-size 0.1",
    "fsdp": f"{CLOCKS} --plan fsdp --fault slow_clock --fault-rank 4 --fault-size 0.1",
    "hsdp": f"{CLOCKS} --plan hsdp --ranks 8 --host-ranks 4",
    "pp": f"{CLOCKS} --plan pp --stages 4",
    "pp-slow": f"{CLOCKS} --plan pp --stages 4 --fault slow_clock --fault-rank 2 --fault-size 0.2",
    "pp-alone": "--plan pp --stages 4 --ranks 4 --microbatches 12",
    "3d": f"{CLOCKS} --plan pp --tensor 2 --stages 4 --ranks 16 --microbatches 4 --host-ranks 8",
    "interleaved": "--plan interleaved --stages 4 --chunks 2 --steps 12",
    "ep": f"{CLOCKS} --plan ep",
    "ep-skew": "--plan ep --expert-skew 0.5",
    "no-seq": f"{CLOCKS} --metadata no_seq --windows",
    "old": f"{CLOCKS} --metadata none --fault slow_clock --fault-rank 6 --fault-size 0.1",
    "windows": f"{CLOCKS} --windows --plan tp --tensor 2 --names-differ",
    "windows-old": f"{CLOCKS} --windows --metadata none",
    "names": f"{CLOCKS} --plan tp --tensor 4 --names-differ --metadata no_seq --host-ranks 4",
    "bases": f"{CLOCKS} --two-bases",
    "missing": f"{CLOCKS} --missing 2 5 --fault slow_clock --fault-rank 3 --fault-size 0.1",
    "missing-tp": "--plan tp --tensor 2 --missing 3",
    "lost": f"{CLOCKS} --damage lost",
    "mismatch": f"{CLOCKS} --damage mismatch --plan tp --tensor 2",
}


def tscope(program, folder, *arguments):
    done = subprocess.run([program, "report", folder, "--format", "json", "--full", *arguments], check=False,
                          capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{folder}: exit {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)["runs"][0]["facts"]


def rows_by_rank(facts, analyzer="distributed"):
    return {row["rank"]: row for row in facts.get(analyzer, {}).get("ranks") or []}


# ---- figures of each rank ----

def check_waits(facts, truth):
    """Integer sums: only another match of collectives makes a difference."""
    rows = rows_by_rank(facts)
    for row in truth["ranks"]:
        found = rows.get(row["rank"], {})
        for key in ("wait_ns", "transfer_ns"):
            if found.get(key) != row.get(key, None):
                yield f"rank {row['rank']}: {key} {found.get(key)}, not {row.get(key)}"


def check_clocks(facts, truth):
    """Offsets are compared in the middle of the run, drift moves them by half a step or so."""
    rows = rows_by_rank(facts)
    slack_steps = 4 if truth["options"]["windows"] else 1.5
    for row in truth["ranks"]:
        found = rows.get(row["rank"], {})
        offset, error = found.get("clock_offset_ns"), found.get("clock_error_ns")
        if not row["clock_is_tied"]:
            if offset is not None:
                yield f"rank {row['rank']}: clock_offset_ns {offset}, though nothing tells"
            continue
        if offset is None or (error is None and row["rank"] != truth["ranks"][0]["rank"]):
            yield f"rank {row['rank']}: no clock_offset_ns or clock_error_ns"
            continue
        slack = slack_steps * truth["step_ns"] * abs(row["clock_drift"])
        if abs(offset - row["clock_offset_ns"]) > (error or 0) + slack + 1:
            yield (f"rank {row['rank']}: clock_offset_ns {offset} ± {error}, "
                   f"not {row['clock_offset_ns']}")


def check_least_waiting(facts, truth):
    """The least sum of durations of synchronising collectives."""
    sums = {row["rank"]: row.get("wait_ns", 0) + row.get("transfer_ns", 0)
            for row in truth["ranks"]}
    found = facts["distributed"].get("least_waiting_rank")
    if not any(sums.values()):
        return
    if truth["options"]["damage"] == "none" and not truth["options"]["windows"] \
            and sums.get(found) != min(sums.values()):
        yield f"least_waiting_rank {found}, not {min(sums, key=sums.get)}"


def check_exposed(facts, truth):
    """Own work that communication hides is neither, and the truth does not part it from them."""
    count = len(truth["ranks"])
    budget = facts.get("budget", {})
    own = (budget.get("exposed_own_total_ns") or 0) / (budget.get("step_count") or 1)
    for key in ("exposed_wait_ns", "exposed_transfer_ns"):
        expected = sum(row[key] for row in truth["ranks"]) / count
        slack = EXPOSED_TOLERANCE * expected + 2000
        found = facts.get("transfers", {}).get(f"mean_{key}")
        if found is None or not found - slack <= expected <= found + own + slack:
            yield f"transfers.mean_{key} {found} (own {own:.0f}), not {expected:.0f}"


def check_groups(facts, truth):
    facts = facts.get("process_groups", {})
    for key in ("matched", "mismatched", "missing"):
        expected = sum(group[key] for group in truth["groups"])
        found = facts.get(f"{key}_count")
        if key == "missing" and found is not None:
            found += facts["surplus_count"]  # one rank of two lacks it: the other alone has it
        if found != expected:
            yield f"process_groups.{key}_count {found}, not {expected}"
    expected = sorted(len(group["ranks"]) for group in truth["groups"])
    found = sorted(row["size"] or 0 for row in facts.get("groups") or [] if row["read_count"] > 1)
    if truth["options"]["metadata"] != "none" and found != expected:
        yield f"groups of {found} ranks, not {expected}"


# ---- verdicts ----

def stalls(options):
    """The first rank saves the model often enough to be named for it."""
    return options["checkpoint_steps"] and options["steps"] // options["checkpoint_steps"] >= 3


def check_slow_ranks(facts, truth):
    options = truth["options"]
    is_slow = options["fault"] in PERSISTENT and options["fault_size"] >= LEAST_EXCESS
    expected = options["fault_rank"] if is_slow else [0] if stalls(options) else []
    found = [row["rank"] for row in facts["distributed"].get("slow_ranks") or []]
    if found != expected:
        yield f"slow_ranks {found}, not {expected}"
    stragglers = facts.get("stragglers", {})
    if (stragglers.get("slow_rank_count") or 0) != len(expected):
        yield f"stragglers.slow_rank_count {stragglers.get('slow_rank_count')}, not {len(expected)}"
    if not expected:
        return
    cause = CAUSES.get(options["fault"], options["fault"]) if is_slow else "slow_host"
    for row in stragglers.get("causes") or []:
        if row["rank"] not in expected or row["cause"] != cause:
            yield f"stragglers: rank {row['rank']}, {row['cause']}, not {expected}, {cause}"
    named = [(row["kind"], row["late_count"]) for row in stragglers.get("groups") or []]
    if is_node(expected, options) and ("node", len(expected)) not in named:
        yield f"stragglers.groups {named}, not a node"


def is_node(ranks, options):
    """Are these the ranks of a host?"""
    size = options["host_ranks"]
    return size > 0 and len(ranks) == size and len({rank // size for rank in ranks}) == 1


def check_links(facts, truth):
    options = truth["options"]
    rows = facts.get("transfers", {}).get("slow_links") or []
    found = sorted({row["ranks"] for row in rows})
    expected = []
    for group in truth["groups"]:
        if options["fault"] == "slow_link" and options["fault_group"] == name_of(group):
            expected.append(ranks_text(group["ranks"]))
            if not any(abs(row["slowdown_ratio"] - options["fault_size"]) <
                       0.15 * (1 + options["fault_size"]) for row in rows):
                yield f"slowdown_ratio {[row['slowdown_ratio'] for row in rows]}"
    if found != expected:
        yield f"slow_links {found}, not {expected}"


def name_of(group):
    short = {"TENSOR_PARALLEL": "tp", "DATA_PARALLEL": "dp", "EXPERT_PARALLEL": "ep"}
    if group["description"] == "PIPELINE":
        return "pp{}_{}".format(*group["ranks"])
    return short.get(group["description"], "world") + str(group["ranks"][0])


def ranks_text(ranks):
    """As tscope writes it: "0-3, 8"."""
    parts = []
    for rank in ranks:
        if parts and parts[-1][1] == rank - 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in parts)


def check_missing(facts, truth):
    expected = truth["options"]["missing"]
    found = facts["distributed"].get("missing_ranks") or []
    if found != expected:
        yield f"missing_ranks {found}, not {expected}"


# ---- what repairs win ----

def check_simulation(facts, truth):
    what_if = facts.get("what_if", {})
    error = what_if.get("simulation_error_ratio")
    if error is None or abs(error) > MOST_SIMULATION_ERROR:
        yield f"simulation_error_ratio {error}"
    step = what_if.get("step_ns")
    if step is None or abs(step / truth["step_ns"] - 1) > 0.02:
        yield f"what_if.step_ns {step}, not {truth['step_ns']:.0f}"


def gain_differs(facts, truth, name, expected):
    found = facts.get("what_if", {}).get(f"{name}_gain_ns")
    options = truth["options"]
    is_host_busy = options["fault"] == "slow_host" or options["checkpoint_steps"]
    share = HOST_STEP_TOLERANCE if is_host_busy else STEP_TOLERANCE
    most = max(GAIN_TOLERANCE * abs(expected), share * truth["step_ns"])
    if found is None or abs(found - expected) > most:
        yield f"what_if.{name}_gain_ns {found}, not {expected:.0f}"


def check_gains(facts, truth):
    for name in ("ideal_overlap", "ideal_network", "no_data_stall"):
        expected = truth["step_ns"] - truth[f"{name}_step_ns"]
        yield from gain_differs(facts, truth, name, expected)
    # A rank that is made like the others loses its hiccups, too.
    options = truth["options"]
    is_alone = options["fault"] in PERSISTENT and len(options["fault_rank"]) == 1
    if is_alone and not options["hiccups"]:
        expected = truth["step_ns"] - truth["no_fault_step_ns"]
        yield from gain_differs(facts, truth, "no_straggler", expected)


# ---- pipelines and experts ----

def check_pipeline(facts, truth):
    expected, found = truth["pipeline"], facts.get("pipeline", {})
    if not expected:
        return
    for key in ("stage_count", "microbatch_count"):
        value = expected["stages" if key == "stage_count" else "microbatches"]
        if found.get(key) != value:
            yield f"pipeline.{key} {found.get(key)}, not {value}"
    for key in ("bubble_ratio", "ideal_bubble_ratio"):
        if key not in found or abs(found[key] - expected[key]) > RATIO_TOLERANCE:
            yield f"pipeline.{key} {found.get(key)}, not {expected[key]:.4f}"


def check_experts(facts, truth):
    expected, found = truth["experts"], facts.get("experts", {})
    if not expected:
        return
    for key in ("imbalance_ratio", "worst_imbalance_ratio"):
        if key not in found or abs(found[key] - expected[key]) > 1e-6:
            yield f"experts.{key} {found.get(key)}, not {expected[key]:.6f}"
    if found.get("busiest_rank") != expected["busiest_rank"]:
        yield f"experts.busiest_rank {found.get('busiest_rank')}, not {expected['busiest_rank']}"


def checks_of(truth):
    """Which comparisons make sense for a set."""
    options = truth["options"]
    yield from (check_waits, check_clocks, check_least_waiting, check_groups, check_missing)
    if options["expert_skew"] == 0:  # a skew makes a rank slow: it has more work
        yield from (check_slow_ranks, check_links)
    yield from (check_pipeline, check_experts)
    if options["windows"] or options["missing"]:
        return
    yield check_simulation
    if options["damage"] == "none" and options["metadata"] != "none":
        yield from (check_exposed, check_gains)


def compare(program, folder, arguments):
    truth = make_ranks.make(folder, arguments)
    try:
        facts = tscope(program, folder)
    except RuntimeError as error:
        yield str(error)
        return
    for check in checks_of(truth):
        yield from check(facts, truth)


# ---- jobs without a fault ----

def healthy_arguments(seed):
    """A job of any kind, noisier than most."""
    rng = random.Random(f"healthy/{seed}")
    plan = rng.choice(("dp", "dp", "tp", "fsdp", "hsdp", "pp", "ep"))
    ranks = rng.choice((4, 8, 8, 16))
    arguments = ["--seed", seed, "--plan", plan, "--ranks", ranks,
                 "--steps", rng.randrange(10, 31), "--layers", rng.randrange(1, 4),
                 "--overlap", rng.choice((0, 0.5, 0.9)), "--buckets", rng.choice((2, 4, 8)),
                 "--comm-fraction", rng.choice((0.1, 0.25, 0.5)),
                 "--kernel-noise", rng.choice((0.01, 0.02, 0.03)),
                 "--step-noise", rng.choice((0.003, 0.01, 0.02)),
                 "--spread", rng.choice((0, 0.002, 0.004)),
                 "--hiccups", rng.choice((0, 0, 0.02)), *CLOCKS.split()]
    if plan == "tp":
        arguments += ["--tensor", 2, "--host-ranks", 4]
    if plan == "pp":
        arguments += ["--stages", 4, "--microbatches", rng.choice((4, 8))]
    if plan in ("dp", "fsdp"):
        arguments += ["--metadata", rng.choice(make_ranks.METADATA)]
    if plan == "dp" and rng.random() < 0.3:
        arguments += ["--broadcast", "--checkpoint-steps", 8]
    if rng.random() < 0.2:
        arguments.append("--whole-us")
    if rng.random() < 0.3:
        arguments.append("--windows")
    return arguments


def named_in(facts, arguments):
    """Who is accused of anything, but for the first rank's checkpoints."""
    late = [row for row in facts["distributed"].get("slow_ranks") or []
            if "--checkpoint-steps" not in arguments or (row["rank"], row["basis"]) != (0, "stalls")]
    named = [f"slow rank {row['rank']}" for row in late]
    named += [f"straggler {row['rank']}: {row['cause']}"
              for row in facts.get("stragglers", {}).get("causes") or []
              if row["rank"] in [other["rank"] for other in late]]
    named += [f"slow link {row['ranks']} ({row['kind']}) by {row['slowdown_ratio']:.3f}"
              for row in facts.get("transfers", {}).get("slow_links") or []]
    if facts["distributed"].get("straggler"):
        named.append(f"pytscope's straggler {facts['distributed']['straggler']['rank']}")
    return named


def count_accused(program, count, first):
    accused = 0
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            arguments = healthy_arguments(seed)
            make_ranks.make(folder, arguments)
            named = named_in(tscope(program, folder), arguments)
        accused += bool(named)
        if named:
            print(f"healthy {seed} ({' '.join(map(str, arguments))}): {'; '.join(named)}")
    print(f"{accused} of {count} sets without a fault name somebody")
    return 0 if accused * 200 <= max(count, 200) else 1


# ---- all of it ----

def check(program, seed, folder):
    for name in CASES:
        for difference in compare(program, folder / name, [*CASES[name].split(), "--seed", seed]):
            yield f"{name}: {difference}"


def run_case(program, name, seed=1, folder="/tmp/ranks"):
    return 1 if seeds.show(name, compare(program, pathlib.Path(folder),
                                         [*CASES[name].split(), "--seed", seed])) else 0


def main():
    program, *rest = sys.argv[1:]
    if rest[:1] == ["--healthy"]:
        return count_accused(program, int(rest[1]), int(rest[2]) if len(rest) > 2 else 1)
    if rest[:1] == ["--case"]:
        return run_case(program, *rest[1:])
    rounds, first = (*map(int, rest), *(1, 1)[len(rest):])
    return max(seeds.run(functools.partial(check, program), rest, 1),
               count_accused(program, 5 * rounds, first))


if __name__ == "__main__":
    sys.exit(main())
