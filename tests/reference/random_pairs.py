# SPDX-License-Identifier: MIT
"""Random pairs of run directories, the same for the same seed: B is A again, with or without
differences of environment, configuration, losses, ranks and files."""
import copy
import json
import pathlib
import random

import random_runs

NAN, INFINITY = float("nan"), float("inf")
TEXTS = ("", "2.8.0", "a b", "\u00e4\u20ac", "\"quoted\"\\", "tab\tline\n", "<absent>")
VALUES = (0, 1, -3, 2.5, 1e-05, 1e300, 12345678901234567890, True, False, None, "text", NAN,
          INFINITY, [], [1, [2.5, "x"]], {}, {"b": 1, "a": {"d": None, "c": [True]}})


def environment_of(rng):
    environment = {"torch": "2.8.0", "cuda": rng.choice(("12.8", None)), "python": "3.12"}
    if rng.random() < 0.5:
        environment["cudnn_benchmark"] = rng.choice((True, False))
        environment["cudnn_deterministic"] = rng.choice((True, False))
    if rng.random() < 0.7:
        environment["env"] = {name: value for name, value in
                              (("PYTHONHASHSEED", "0"), ("CUBLAS_WORKSPACE_CONFIG", ":4096:8"))
                              if rng.random() < 0.7}
    if rng.random() < 0.2:
        environment["nested"] = {"deep": {"deeper": rng.choice(VALUES)}, "list": [1, {"b": 1}]}
    return environment


def config_of(rng):
    return {name: rng.choice(VALUES) for name in ("lr", "batch", "model", "z\u00e4", "a.b", "")
            if rng.random() < 0.5}


def changed(rng, settings):
    """The same with a value, a name more or a name less."""
    settings = copy.deepcopy(settings)
    names = list(settings)
    kind = rng.randrange(4)
    if kind == 0 or not names:
        settings[rng.choice(("gpu", "new", "python"))] = rng.choice(TEXTS)
    elif kind == 1:
        del settings[rng.choice(names)]
    elif kind == 2:
        settings[rng.choice(names)] = rng.choice(VALUES)
    else:
        inner = settings.setdefault("env", {})
        if isinstance(inner, dict):
            inner[rng.choice(("PYTHONHASHSEED", "OTHER"))] = rng.choice(TEXTS)
    return settings


def reordered(rng, value):
    """The same to Python, written in another order."""
    if isinstance(value, dict):
        names = list(value)
        rng.shuffle(names)
        return {name: reordered(rng, value[name]) for name in names}
    if isinstance(value, list):
        return [reordered(rng, item) for item in value]
    return value


def other_losses(rng, records):
    """Copies of the records of which some losses are others, gone or further."""
    records = copy.deepcopy(records)
    having = [r for r in records if "loss" in r.get("scalars", {})]
    kind = rng.choice(("same", "same", "one", "tiny", "not_finite", "gone", "cut", "all"))
    if kind == "one" and having:
        rng.choice(having)["scalars"]["loss"] *= 1.5
    elif kind == "tiny" and having:
        rng.choice(having)["scalars"]["loss"] *= 1 + rng.choice((1e-4, 5e-3, -1e-4))
    elif kind == "not_finite" and having:
        rng.choice(having)["scalars"]["loss"] = rng.choice((NAN, INFINITY, -INFINITY))
    elif kind == "gone" and having:
        del rng.choice(having)["scalars"]["loss"]
    elif kind == "cut" and len(records) > 1:
        del records[rng.randrange(1, len(records)):]
    elif kind == "all":
        for record in having:
            del record["scalars"]["loss"]
    return records


def other_times(rng, records):
    for record in records:
        for name, value in record["phases"].items():
            record["phases"][name] = round(value * rng.uniform(0.9, 1.1), 9)


def make_a(rng):
    plan = random_runs.make_plan(rng)
    plan["rank_count"] = rng.choice((1, 1, 1, 2, 3))
    ranks = {rank: random_runs.records_of(rng, plan, rank) for rank in range(plan["rank_count"])}
    environment, config = environment_of(rng), config_of(rng)
    metas = {}
    for rank in ranks:
        metas[rank] = {"name": "r", "environment": environment, "config": config, "rank": rank,
                       "world_size": len(ranks), "started": 1790857026.5, "wall_time": 4.5,
                       "n_steps": len(ranks[rank])}
        for name in ("name", "environment", "config", "started", "wall_time", "n_steps"):
            if rng.random() < 0.05:
                del metas[rank][name]
    return {"ranks": ranks, "metas": metas, "is_flat": len(ranks) == 1}


def make_b(rng, a):
    ranks = {rank: copy.deepcopy(records) for rank, records in a["ranks"].items()}
    metas = reordered(rng, a["metas"])
    if rng.random() < 0.7:
        ranks = {rank: other_losses(rng, records) for rank, records in ranks.items()}
    if rng.random() < 0.5:
        for records in ranks.values():
            other_times(rng, records)
    if rng.random() < 0.1 and len(ranks) > 1:
        del ranks[rng.choice(list(ranks))]
    for name in ("environment", "config"):
        if rng.random() < 0.3:
            for meta in metas.values():
                meta[name] = changed(rng, meta.get(name, {}))
    return {"ranks": ranks, "metas": {rank: metas[rank] for rank in ranks}, "is_flat": a["is_flat"]}


def write_run(rng, folder, run):
    """Writes a run; where its run.json is cut or missing the run's metas say so."""
    is_missing, is_cut = rng.random() < 0.08, rng.random() < 0.04
    for rank, records in run["ranks"].items():
        place = folder if run["is_flat"] else folder / f"rank{rank}"
        place.mkdir(parents=True, exist_ok=True)
        (place / "steps.jsonl").write_text(random_runs.damage(rng, records))
        text = json.dumps(run["metas"][rank], indent=rng.choice((None, 2)),
                          ensure_ascii=rng.random() < 0.5)
        if is_cut:
            text = text[:-1]
        if not is_missing:
            (place / "run.json").write_text(text, encoding="utf-8")
        if is_missing or is_cut:
            run["metas"][rank] = None


def write_pair(folder, seed):
    """Writes folder/a and folder/b. Returns both runs as formulas_diff.py wants them."""
    rng = random.Random(seed)
    a = make_a(rng)
    b = make_b(rng, a)
    for name, run in (("a", a), ("b", b)):
        write_run(rng, pathlib.Path(folder) / name, run)
    return a, b
