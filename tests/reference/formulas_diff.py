# SPDX-License-Identifier: MIT
"""What pytscope 0.2.1 says of two runs, written a second time and as plainly as can be, with
tscope's improvements marked "ours".

A run is {"metas": {rank: run.json as read, or None}, "ranks": {rank: records}}.
"""
import math

import formulas

RELEVANT = {"torch", "cuda", "gpu", "gpu_count", "cudnn_deterministic", "cudnn_benchmark",
            "env.PYTHONHASHSEED", "env.CUBLAS_WORKSPACE_CONFIG"}


def same(a, b):
    """Python's ==, but NaN equals NaN and True is not 1 (ours)."""
    if isinstance(a, bool) != isinstance(b, bool):
        return False
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return a == b


def flat(environment):
    """Nested names joined by a dot; pytscope joins those of "env" alone (ours: all)."""
    result = {}
    for key, value in environment.items():
        if isinstance(value, dict):
            result.update({f"{key}.{inner}": v for inner, v in flat(value).items()})
        else:
            result[key] = value
    return result


def changes(a, b):
    """[(name, has_a, a, has_b, b)] of what differs, sorted by name."""
    names = sorted(set(a) | set(b), key=lambda name: name.encode())
    return [(name, name in a, a.get(name), name in b, b.get(name)) for name in names
            if name not in a or name not in b or not same(a[name], b[name])]


def losses_of(records):
    """[(step, loss)] of all records that have one."""
    return [(r["step"], r["scalars"]["loss"]) for r in records if "loss" in r.get("scalars", {})]


def equal_losses(a, b, tolerance):
    if a == b or (math.isnan(a) and math.isnan(b)):
        return True  # ours: NaN
    if not math.isfinite(a) or not math.isfinite(b):
        return False
    return abs(a - b) <= tolerance * max(abs(a), abs(b))  # ours


def trajectory(a, b, tolerance):
    """The facts that are told of the run, and of each rank."""
    a, b = losses_of(a), losses_of(b)
    first = next((i for i, (x, y) in enumerate(zip(a, b))
                  if not equal_losses(x[1], y[1], tolerance)), None)
    has_difference = first is not None
    if first is None and len(a) != len(b):
        first = min(len(a), len(b))
    identical = bool(a) and first is None
    if not a and not b:
        identical = None  # ours: nobody knows
    step = None
    if first is not None:
        step = (a if first < len(a) else b)[first][0]
    return {"identical_trajectory": identical, "first_divergence": first,
            "first_divergence_step": step, "a_loss_count": len(a), "b_loss_count": len(b),
            "differs": has_difference}


def notes(facts, sides, environment, config):
    """Kinds of notes, in their order: [(kind, what it names)]. facts: of the trajectory that they
    speak of."""
    environments = [side["environment"] for side in sides]
    knows = [bool(side["environment"] or side["config"]) for side in sides]
    relevant = [row[0] for row in environment if row[0] in RELEVANT]
    same_ranks = sides[0]["rank_count"] == sides[1]["rank_count"]
    if facts["identical_trajectory"] and not environment and not config and same_ranks:
        return [("reproducible", None)]
    result = []
    if knows[0] != knows[1]:
        result.append(("one_knows", "A" if knows[0] else "B"))  # ours: nothing is blamed
    elif config:
        result.append(("config", [row[0] for row in config]))
    elif relevant:
        result.append(("environment", relevant))
    elif not same_ranks:
        result.append(("ranks", None))  # ours: pytscope knows one rank only
    elif facts["differs"]:
        # Ours: pytscope says so of a run that ended early, too, and where there are no losses.
        result.append(("nondeterminism", None))
    # pytscope goes side by side and drops what it has said already; ours names the sides.
    benchmark = [e.get("cudnn_benchmark") is True for e in environments]
    seedless = [bool(e) and "env.PYTHONHASHSEED" not in e for e in environments]  # ours: bool(e)
    for kind, fires in (("cudnn_benchmark", benchmark), ("hash_seed", seedless)):
        named = " and ".join(name for name, fire in zip("AB", fires) if fire)
        if named:
            result.append((kind, named))
    if facts["differs"]:
        result.append(("differ", facts.get("rank")))
    elif facts["a_loss_count"] and facts["b_loss_count"]:
        if not facts["identical_trajectory"]:
            result.append(("prefix", facts.get("rank")))
    elif facts["a_loss_count"] or facts["b_loss_count"]:
        result.append(("one_side", "A" if facts["a_loss_count"] else "B"))
    elif any(knows):
        result.append(("no_losses", None))
    return result


def side_of(run):
    meta = run["metas"][min(run["ranks"])] or {}
    return {"environment": flat(meta.get("environment", {})), "config": meta.get("config", {}),
            "rank_count": len(run["ranks"])}


def rank_rows(a, b, tolerance):
    """The ranks that both have, where there are several."""
    if len(a["ranks"]) == 1 and len(b["ranks"]) == 1:
        return []
    return [{"rank": rank, **trajectory(a["ranks"][rank], b["ranks"][rank], tolerance)}
            for rank in sorted(set(a["ranks"]) & set(b["ranks"]))]


def spoken_of(facts, ranks):
    """The trajectory that notes speak of: the first that parts, if that of the lowest does not."""
    candidates = [facts] + ranks
    parted = [row for row in candidates if row["first_divergence"] is not None]
    known = [row for row in candidates if row["identical_trajectory"] is not None]
    return (parted or known or candidates)[0]


def metrics(run):
    lowest = run["ranks"][min(run["ranks"])]
    steps = formulas.slowest(run["ranks"]) if len(run["ranks"]) > 1 else lowest
    time, loss = formulas.step_time(steps), formulas.convergence(lowest)
    return {"convergence.final_loss": loss["final_loss"],
            "convergence.best_loss": loss["best_loss"],
            "step_time.mean_ns": time.get("mean_ns"),
            "step_time.steps_per_second": time.get("steps_per_second"),
            "memory.peak_alloc_bytes": formulas.memory(lowest).get("peak_alloc_bytes"),
            "step_time.count": time["count"]}


def diff(a, b, tolerance=0.0):
    """Everything that is compared with the program, or None where neither side says anything."""
    sides = [side_of(a), side_of(b)]
    environment = changes(sides[0]["environment"], sides[1]["environment"])
    config = changes(sides[0]["config"], sides[1]["config"])
    facts = trajectory(a["ranks"][min(a["ranks"])], b["ranks"][min(b["ranks"])], tolerance)
    has_losses = facts["a_loss_count"] or facts["b_loss_count"]
    metric = [metrics(a), metrics(b)]
    result = {"metrics": metric, "facts": None}
    if not has_losses and not any(side["environment"] or side["config"] for side in sides):
        return result
    ranks = rank_rows(a, b, tolerance)
    spoken = spoken_of(facts, ranks)
    has_changes = environment or config or len(a["ranks"]) != len(b["ranks"])
    reproducible = bool(spoken["identical_trajectory"]) and not has_changes
    if spoken["identical_trajectory"] is None and not has_changes:
        reproducible = None
    result.update(
        facts={**facts, "is_reproducible": reproducible, "environment_count": len(environment),
               "config_count": len(config), "loss_tolerance": tolerance,
               **{f"{side}_{name}": values[f"convergence.{name}"]
                  for side, values in zip("ab", metric) for name in ("final_loss", "best_loss")}},
        environment=environment, config=config, ranks=ranks,
        notes=notes(spoken, sides, environment, config))
    return result
