# SPDX-License-Identifier: MIT
"""Random run directories, the same for the same seed, with everything that jobs leave behind: ties,
one step, missing phases and ranks, cut lines, re-runs, losses that are no number."""
import json
import pathlib
import random

MIB = 1 << 20


def seconds(rng, mean_ns, spread):
    return round(mean_ns * (1 + spread * rng.uniform(-1, 1))) / 1e9


def phases_of(rng, plan, rank):
    """The phases of one step."""
    phases = {}
    for name, mean_ns in plan["phases"].items():
        if rng.random() < plan["missing_phase"]:
            continue
        slow = plan["slow"].get(rank, 1.0) if name not in ("data", "comm") else 1.0
        value = seconds(rng, mean_ns * slow, plan["spread"])
        phases[name] = value * (rng.choice((3, 8)) if rng.random() < plan["outlier"] else 1)
    return {name: round(value, 9) for name, value in phases.items()}


def scalars_of(rng, plan, index):
    if not plan["has_loss"] or rng.random() < plan["missing_scalar"]:
        return {}
    loss = plan["loss"] * (1 + plan["drift"] * index) + 0.01 * rng.uniform(-1, 1)
    if rng.random() < plan["spike"]:
        loss *= 4
    if rng.random() < plan["not_finite"]:
        loss = rng.choice((float("nan"), float("inf"), float("-inf")))
    scalars = {"loss": loss, "lr": 1e-3}
    if plan["has_grad_norm"]:
        scalars["grad_norm"] = abs(rng.gauss(1, 0.1)) * (9 if rng.random() < plan["spike"] else 1)
    return scalars


def memory_of(rng, plan, index):
    if not plan["has_memory"] or rng.random() < plan["missing_memory"]:
        return None
    alloc = int((plan["alloc_mib"] + plan["leak_mib"] * index) * MIB) + rng.randrange(1024)
    block = {"alloc": alloc}
    if rng.random() >= plan["missing_reserved"]:
        block["reserved"] = int(alloc * plan["reserved"])
    if rng.random() < 0.7:
        block["peak_alloc"] = alloc + rng.randrange(64 * MIB)
    if "reserved" in block and rng.random() < 0.7:
        block["peak_reserved"] = block["reserved"] + rng.randrange(64 * MIB)
    return block


def make_plan(rng):
    """What kind of run it is."""
    some = {name: rng.choice((0, 1e5, 3e6, 2e7, 9e7))
            for name in ("data", "forward", "backward", "optimizer", "comm", "compute", "other")
            if rng.random() < 0.75}
    if rng.random() < 0.2:
        some["eval"] = 4e6
    if rng.random() < 0.05:
        some = dict.fromkeys(some, 0)
    rank_count = rng.choice((1, 1, 2, 3, 4, 8, 12))
    slow = {rng.randrange(rank_count): rng.choice((1.03, 1.08, 1.4))} if rng.random() < 0.5 else {}
    return {
        "phases": some, "rank_count": rank_count, "slow": slow,
        "steps": rng.choice((1, 2, 3, 7, 8, 12, 20, 33, 50, 61)),
        "spread": rng.choice((0, 0, 0.01, 0.03, 0.3)),
        "missing_phase": rng.choice((0, 0, 0.1)), "outlier": rng.choice((0, 0.03)),
        "has_loss": rng.random() < 0.8, "loss": rng.choice((2.5, -1.0, 0.0)),
        "drift": rng.choice((-0.015, 0, 0.001, 0.02)), "missing_scalar": rng.choice((0, 0.2)),
        "spike": rng.choice((0, 0.04)), "not_finite": rng.choice((0, 0, 0, 0.03)),
        "has_grad_norm": rng.random() < 0.6, "has_memory": rng.random() < 0.6,
        "alloc_mib": rng.choice((10, 64, 900)), "leak_mib": rng.choice((0, 0.5, 2, 5)),
        "reserved": rng.choice((1.05, 1.25, 1.6, 2.0)), "missing_memory": rng.choice((0, 0.1)),
        "missing_reserved": rng.choice((0, 0, 0.2)), "lost_step": rng.choice((0, 0, 0.1)),
        "flops": rng.choice((0, 0, 1e11, 3e12)), "peak": 1e14, "first": rng.choice((0, 0, 5)),
    }


def records_of(rng, plan, rank):
    records = []
    for index in range(plan["steps"]):
        record = {"step": plan["first"] + index, "phases": phases_of(rng, plan, rank)}
        scalars, memory = scalars_of(rng, plan, index), memory_of(rng, plan, index)
        if scalars or rng.random() < 0.5:
            record["scalars"] = scalars
        if memory:
            record["memory"] = memory
        if index and rng.random() < plan["lost_step"]:
            continue
        records.append(record)
    return records


def damage(rng, records):
    """The file as it may be found: with an earlier run in front, bad lines, a cut end."""
    lines = [json.dumps(r, separators=(",", ":")) for r in records]
    if rng.random() < 0.1 and len(records) > 1:
        earlier = [json.dumps({**r, "phases": {"forward": 9.0}}) for r in records[:-1]]
        lines = earlier + lines
    if rng.random() < 0.15:
        lines.insert(rng.randrange(len(lines)), rng.choice(("", "no json", "[1, 2]", '{"a": 1}')))
    text = "\n".join(lines) + "\n"
    if rng.random() < 0.1:
        text += '{"step": 9999, "phases": {"forw'
    return text


def write_run(folder, seed):
    """Writes a run below folder. Returns {rank: records}, flops_per_step, peak_flops."""
    rng = random.Random(seed)
    plan = make_plan(rng)
    folder = pathlib.Path(folder)
    ranks = {}
    missing = {rng.randrange(plan["rank_count"])} if rng.random() < 0.1 else set()
    for rank in range(plan["rank_count"]):
        records = records_of(rng, plan, rank)
        if rank in missing and plan["rank_count"] > 2:
            continue
        ranks[rank] = records
        place = folder / f"rank{rank}" if plan["rank_count"] > 1 else folder
        place.mkdir(parents=True, exist_ok=True)
        (place / "steps.jsonl").write_text(damage(rng, records))
        meta = {"name": "r", "rank": rank, "world_size": plan["rank_count"], "n_steps": len(records)}
        if plan["flops"]:
            meta.update(flops_per_step=plan["flops"], peak_flops=plan["peak"])
        if plan["flops"] or rng.random() < 0.8:
            (place / "run.json").write_text(json.dumps(meta))
        elif rng.random() < 0.5:
            (place / "run.json").write_text('{"name": "cut')
    return ranks, plan["flops"], plan["peak"] if plan["flops"] else 0
