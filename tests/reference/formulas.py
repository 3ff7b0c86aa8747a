# SPDX-License-Identifier: MIT
"""The formulas of pytscope 0.2.1 on step records: a second implementation, written from their
description and as plainly as can be, for tscope to be compared with.

A rank is a list of records as json.loads() gives them, already without warm-up. Times come out in
nanoseconds. Names of results are those of the facts they are compared with.
"""
import math
import statistics
from decimal import ROUND_HALF_UP, Decimal

PHASES = ("data", "forward", "backward", "optimizer", "comm", "compute", "other")
COMPUTE = ("forward", "backward", "optimizer", "compute")
MIB = 1 << 20


def phase_ns(record, name):
    """A phase as tscope reads it: rounded to the nanosecond."""
    seconds = (record.get("phases") or {}).get(name, 0.0)
    return int((Decimal(repr(seconds)) * 10**9).to_integral_value(ROUND_HALF_UP))


def total_ns(record):
    return sum(phase_ns(record, name) for name in record.get("phases") or {})


def compute_ns(record):
    return sum(phase_ns(record, name) for name in COMPUTE)


# ---- statistics ----------------------------------------------------------------------------


def median(values):
    return statistics.median(values) if values else 0.0


def percentile(values, percent):
    """Linear between the two nearest."""
    values = sorted(values)
    at = (len(values) - 1) * percent / 100
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def variation(values):
    """Population standard deviation by mean, None where the mean is 0."""
    mean = math.fsum(values) / len(values)
    if mean == 0:
        return None
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values)) / mean


def local_spikes(values):
    """Positions of values far above the up to 12 finite ones before them."""
    spikes, history = [], []
    for position, value in enumerate(values):
        if value is None or not math.isfinite(value):
            continue
        recent = history[-12:]
        if len(recent) >= 6:
            middle = median(recent)
            scale = 1.4826 * median([abs(v - middle) for v in recent])
            if scale > 0:
                limit = middle + 6 * scale
            elif middle > 0:
                limit = 1.5 * middle
            else:
                limit = middle
            if value > limit:
                spikes.append(position)
        history.append(value)
    return spikes


def robust_slope(values):
    if len(values) < 2:
        return 0.0
    window = max(1, len(values) // 10)
    return (median(values[-window:]) - median(values[:window])) / (len(values) - 1)


# ---- analyzers -----------------------------------------------------------------------------


def step_time(records):
    times = [total_ns(r) for r in records]
    if not times:
        return {"count": 0}
    mean = math.fsum(times) / len(times)
    p50, p95 = percentile(times, 50), percentile(times, 95)
    result = {"count": len(times), "mean_ns": mean, "p50_ns": p50, "p95_ns": p95, "max_ns": max(times),
              "cv": variation(times), "p95_p50_ratio": p95 / p50 if p50 else None,
              "steps_per_second": 1e9 / mean if mean else None}
    for name in PHASES:
        part = math.fsum(phase_ns(r, name) for r in records) / len(times)
        result[f"phase.{name}_ns"] = part
        result[f"phase.{name}_ratio"] = part / mean if mean else None
    return result


def memory(records):
    blocks = [r["memory"] for r in records if (r.get("memory") or {}).get("alloc") is not None]
    if not blocks:
        return {}
    alloc = [b["alloc"] for b in blocks]
    # pytscope pairs the lists by position; each step's own pair is meant.
    shares = [(b["reserved"] - b["alloc"]) / b["reserved"] for b in blocks if b.get("reserved")]
    reserved = [b.get("peak_reserved", b.get("reserved")) for b in blocks]
    reserved = [value for value in reserved if value is not None]
    return {"peak_alloc_bytes": max(b.get("peak_alloc", b["alloc"]) for b in blocks),
            "peak_reserved_bytes": max(reserved) if reserved else None,
            "mean_alloc_bytes": math.fsum(alloc) / len(alloc),
            "fragmentation": math.fsum(shares) / len(shares) if shares else None,
            "growth_bytes_per_step": robust_slope(alloc), "step_count": len(alloc)}


def scalar(record, name):
    return (record.get("scalars") or {}).get(name)


def spike_steps(records, name):
    having = [r for r in records if scalar(r, name) is not None]
    return [having[i]["step"] for i in local_spikes([scalar(r, name) for r in having])]


def convergence(records):
    losses = [(r["step"], scalar(r, "loss")) for r in records if scalar(r, "loss") is not None]
    spikes = {"loss_spikes": spike_steps(records, "loss"),
              "grad_norm_spikes": spike_steps(records, "grad_norm")}
    if not losses:
        return {**spikes, "final_loss": None, "best_loss": None, "diverged_at": None}
    finite = [loss for _, loss in losses if math.isfinite(loss)]
    diverged = next((step for step, loss in losses if not math.isfinite(loss)), None)
    trend = "unknown"
    if len(finite) >= 4:
        window = max(1, len(finite) // 10)
        first, last = median(finite[:window]), median(finite[-window:])
        change = (last - first) / (abs(first) or 1)
        trend = "improving" if change < -0.02 else "worsening" if change > 0.02 else "plateau"
    return {**spikes, "loss_count": len(losses), "final_loss": finite[-1] if finite else None,
            "best_loss": min(finite) if finite else None, "diverged_at": diverged,
            "loss_trend": "diverged" if diverged is not None else trend}


def efficiency(records, flops_per_step, peak_flops):
    sums = {name: sum(phase_ns(r, name) for r in records) for name in PHASES}
    measured = sum(sums[name] for name in COMPUTE)
    wall = measured + sums["data"] + sums["comm"] + sums["other"]
    if wall <= 0:
        return {}
    useful, mfu, uncapped, achieved = measured, None, None, None
    if flops_per_step and peak_flops:
        ideal = flops_per_step * len(records) / peak_flops * 1e9
        useful = min(ideal, measured)
        mfu = useful / wall
        # Ours, beside the reference's.
        uncapped, achieved = ideal / wall, flops_per_step * len(records) / wall / 1e3
    lines = [("useful_compute", useful), ("compute_overhead", measured - useful),
             ("data_stall", sums["data"]), ("communication", sums["comm"]),
             ("other", sums["other"])]
    return {"wall_ns": wall, "mfu": mfu, "useful_ratio": useful / wall, "mfu_uncapped": uncapped,
            "achieved_tflops": achieved, "lines": lines}


def common_steps(ranks):
    """[{rank: record}] of the numbers that all ranks have; the last record of a number counts."""
    tables = {rank: {r["step"]: r for r in records} for rank, records in ranks.items()}
    numbers = set.intersection(*(set(table) for table in tables.values()))
    return [{rank: tables[rank][number] for rank in tables} for number in sorted(numbers)]


def slowest(ranks):
    """What tscope takes for the steps of the run: of each step the rank that took longest."""
    return [max((row[rank] for rank in sorted(row)), key=total_ns) for row in common_steps(ranks)]


def distributed(ranks):
    rows = common_steps(ranks)
    if len(ranks) < 2 or not rows:
        return {}
    order = sorted(ranks)
    compute = [[compute_ns(row[rank]) for rank in order] for row in rows]
    comm = [[phase_ns(row[rank], "comm") for rank in order] for row in rows]
    walls = [max(c) + max(m) for c, m in zip(compute, comm)]
    shares = [max(m) / wall if wall else 0.0 for m, wall in zip(comm, walls)]
    # The rank that waits least moves data all the time; the others wait for it in the rest.
    moving = [min(m) / (max(c) + min(m)) if max(c) + min(m) else 0.0
              for c, m in zip(compute, comm)]
    slowest_counts = dict.fromkeys(order, 0)
    for row in compute:
        slowest_counts[order[row.index(max(row))]] += 1
    steps, count = len(rows), len(order)
    chance = 1 / count
    scale = math.sqrt(steps * chance * (1 - chance)) or 1.0
    table = []
    for index, rank in enumerate(order):
        own = [row[index] for row in compute]
        # A step in which the median rank computes nothing has no part in this.
        slowdowns = [row[index] / median(row) - 1 for row in compute if median(row)]
        table.append({"rank": rank, "mean_compute_ns": math.fsum(own) / steps,
                      "median_compute_ns": median(own), "slowest_count": slowest_counts[rank],
                      "slowest_fraction": slowest_counts[rank] / steps,
                      "straggler_z": (slowest_counts[rank] - steps * chance) / scale,
                      "rel_slowdown": median(slowdowns)})
    suspects = [row["rank"] for row in table
                if row["straggler_z"] >= 3 and row["rel_slowdown"] >= 0.05]
    longest = math.fsum(max(row) for row in compute)
    lost = math.fsum(max(row) - math.fsum(row) / count for row in compute)
    return {"world_size": count, "n_steps": steps, "mean_step_wall_ns": math.fsum(walls) / steps,
            "mean_comm_fraction": math.fsum(shares) / steps,
            "mean_transfer_fraction": math.fsum(moving) / steps,
            "imbalance_cv": median([variation(row) or 0.0 for row in compute]),
            "sync_skew_ns": median([max(row) - median(row) for row in compute]),
            "wall_frac_lost_to_imbalance": lost / longest if longest else 0.0,
            "ranks": table, "straggler": suspects[0] if len(suspects) == 1 else None}


def correlation(records):
    """Groups of steps in which two axes or more are off: (first, last, peak step, axes)."""
    if len(records) < 8:
        return []
    axes = {"loss": [scalar(r, "loss") for r in records],
            "grad_norm": [scalar(r, "grad_norm") for r in records],
            "step_time": [total_ns(r) for r in records],
            "memory": [(r.get("memory") or {}).get("alloc") for r in records]}
    flags = {}
    for axis, values in axes.items():
        flagged = set(local_spikes(values))
        if axis == "loss":
            flagged |= {i for i, v in enumerate(values) if v is not None and not math.isfinite(v)}
        for position in flagged:
            flags.setdefault(position, set()).add(axis)
    events = sorted(position for position, names in flags.items() if len(names) >= 2)
    groups = []
    for position in events:
        if groups and position - groups[-1][-1] <= 2:
            groups[-1].append(position)
        else:
            groups.append([position])
    return [(records[g[0]]["step"], records[g[-1]]["step"]) for g in groups]


# ---- rules ---------------------------------------------------------------------------------


def graded(value, med, high):
    """Severity of a share that fires at `med`, and is grave at `high`."""
    if value is None or value < med:
        return None
    return "high" if value >= high else "med"


def rules(facts, spread, anchored):
    """{rule: severity} of what fires, for facts as above; spread: those of distributed()."""
    found = {}
    time, mem, loss = facts["step_time"], facts["memory"], facts["convergence"]
    if time["count"]:
        forward, backward = time["phase.forward_ns"], time["phase.backward_ns"]
        found["TIMING.DATALOADER_BOUND"] = graded(time["phase.data_ratio"], 0.25, 0.40)
        if forward > 0 and 0 < backward <= 10 * forward:
            found["TIMING.BACKWARD_HEAVY"] = graded(backward / forward, 2.5, 3.5)
        if (time["phase.optimizer_ratio"] or 0) >= 0.15:
            found["TIMING.OPTIMIZER_HEAVY"] = "low"
        if time["count"] >= 10 and ((time["cv"] or 0) >= 0.5 or (time["p95_p50_ratio"] or 0) >= 1.5):
            found["TIMING.JITTER"] = "low"
        more = (time["max_ns"] - time["p50_ns"]) / time["count"]
        least = max(0.8 * (time["mean_ns"] - time["p50_ns"]), 0.1 * time["mean_ns"])
        if time["cv"] is not None and time["count"] >= 4 and more >= least and \
                time["max_ns"] >= 3 * time["p50_ns"]:  # one step
            found["TIMING.JITTER"] = "low"
    if mem:
        # Step records know neither the device's memory nor failures: no more than a remark.
        peak, reserved = mem["peak_alloc_bytes"], mem["peak_reserved_bytes"]
        if peak >= 64 * MIB and reserved and (reserved - peak) / reserved >= 0.2:
            found["MEMORY.FRAGMENTATION"] = "low"
        growth, count = mem["growth_bytes_per_step"], mem["step_count"]
        if count >= 20 and growth >= MIB and growth * count >= 0.01 * mem["peak_alloc_bytes"]:
            found["MEMORY.GROWTH"] = "high"
    if loss.get("diverged_at") is not None:
        found["CONVERGENCE.DIVERGED"] = "high"
    if loss.get("loss_count", 0) >= 50 and loss.get("loss_trend") in ("worsening", "plateau"):
        found["CONVERGENCE.NO_PROGRESS"] = "high" if loss["loss_trend"] == "worsening" else "low"
    if facts["correlation"]:
        found["CROSS.CORRELATED_INSTABILITY"] = "high"
    if spread:
        lost = spread["wall_frac_lost_to_imbalance"]
        if spread["straggler"] is not None:
            slow = next(r for r in spread["ranks"] if r["rank"] == spread["straggler"])
            grave = lost >= 0.10 or slow["rel_slowdown"] >= 0.25
            found["DIST.STRAGGLER"] = "high" if grave else "med"
        elif spread["imbalance_cv"] >= 0.15 and lost >= 0.05:
            found["DIST.LOAD_IMBALANCE"] = "med"
        found["DIST.COMM_BOUND"] = graded(spread["mean_comm_fraction"], 0.25, 0.45)
    eff = facts["efficiency"]
    if eff:
        line, top = max((row for row in eff["lines"] if row[0] != "useful_compute"),
                        key=lambda row: row[1])
        top /= eff["wall_ns"]
        if spread and line == "communication" and not anchored and spread["mean_comm_fraction"]:
            top *= min(1, spread["mean_transfer_fraction"] / spread["mean_comm_fraction"])
        if anchored and eff["mfu"] < 0.5 and top >= 0.10:
            found["EFFICIENCY.LOW_MFU"] = "high" if eff["mfu"] < 0.3 else "med"
        elif not anchored:
            found["EFFICIENCY.RECOVERABLE"] = graded(top, 0.20, 0.35)
            if line == "other":  # time that nobody marked: one lower than pytscope
                found["EFFICIENCY.RECOVERABLE"] = {"high": "med", "med": "low"}.get(
                    found["EFFICIENCY.RECOVERABLE"])
    return {rule: severity for rule, severity in found.items() if severity}
