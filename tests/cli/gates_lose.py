#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes information from inputs on which gates trip: none of these may hold then.

usage: gates_lose.py TSCOPE [CASES [SEED]]

An input shows an effect in all of its steps, ranks or events; steps, ranks, fields, files or bytes at
its end are taken away, several ways for each input. What is left shows the effect, or not enough.
At least one rank stays.
"""
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import gates

LOSSES_PER_INPUT = 5


class Input:
    """Texts of files by their paths, the command that reads them, and gates that should trip."""

    def __init__(self, files, command, operands, tripping):
        self.files, self.command, self.operands, self.gates = files, command, operands, tripping

    def write(self, folder):
        for path, content in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())


# ---- inputs with an effect ----------------------------------------------------------------------

def rank_files(rng, folder, rank_count, step_count, slow, leaks=False):
    slow_rank = rng.randrange(rank_count)
    meta = {"world_size": rank_count, "flops_per_step": 1e12, "peak_flops": 1e14}
    files = {}
    for rank in range(rank_count):
        lines = []
        for step in range(step_count):
            compute = 0.08 * (slow if rank == slow_rank else 1) * (1 + rng.gauss(0, 0.01))
            lines.append({"step": step, "phases": {"data": 0.05, "forward": compute, "comm": 0.01},
                          "scalars": {"loss": 1 + 0.05 * step},
                          "memory": {"alloc": (100 + (5 * step if leaks else 0)) << 20,
                                     "peak_alloc": 2 << 30}})
        files[f"{folder}/rank{rank}/steps.jsonl"] = gates.text_of(lines)
        files[f"{folder}/rank{rank}/run.json"] = json.dumps({**meta, "rank": rank})
    return files


def slow_run(rng):
    return Input(rank_files(rng, "run", rng.choice((1, 2, 3, 4, 6)), rng.choice((12, 25, 60)), 1, True),
                 "report", ["run"],
                 ["step_time.mean_ms>30", "step_time.p95_ms>30", "step_time.p50_us>30000", "mfu<0.5",
                  "memory.peak_alloc_bytes>1GiB", "TIMING.DATALOADER_BOUND", "MEMORY.GROWTH",
                  "severity>=low", "step_time.phase.data_ratio>0.1", "convergence.final_loss>0.9",
                  "EFFICIENCY.LOW_MFU", "CONVERGENCE.NO_PROGRESS"])


def straggling_run(rng):
    return Input(rank_files(rng, "run", rng.choice((2, 3, 4, 8)), rng.choice((8, 20, 40)),
                            rng.choice((1.5, 3, 9))), "report", ["run"],
                 ["straggler", "DIST.STRAGGLER", "distributed.imbalance_cv>0.05",
                  "step_time.mean_ms>152"])


def changed_runs(rng):
    ranks, steps = rng.choice((1, 1, 3)), rng.choice((8, 20, 40))
    files = rank_files(rng, "a", ranks, steps, 1)
    slower = rank_files(rng, "b", ranks, steps, 1)
    for path, text in slower.items():
        files[path] = text if "run.json" in path else gates.text_of(
            {**record, "phases": {**record["phases"], "forward": record["phases"]["forward"] * 2}}
            for record in map(json.loads, text.splitlines()))
    return Input(files, "diff", ["a", "b"], ["step_time.mean_ns>+5%", "step_time.p50_ns>+5%",
                                             "step_time.mean_ms>+10", "step_time.mean_ms>150",
                                             "efficiency.wall_ns>+5%", "mfu<-5%",
                                             "step_time.phase.forward_ns>+20%"])


def trace(rng):
    events = list(gates.kernel_events(rng.choice((3, 8, 20)), 1000, rng.randrange(100, 700)))
    name, text = "t.json", json.dumps({"schemaVersion": 1, "traceEvents": events})
    if rng.random() < 0.4:
        name, text = "t.json.gz", gzip.compress(text.encode(), mtime=0)
    return Input({name: text}, rng.choice(("trace", "report")), [name],
                 ["step_time.mean_us>500", "step_time.p99_us>500", "GPU.IDLE", "severity>=low",
                  "budget.wall_total_ns>500us"])


# ---- losses -------------------------------------------------------------------------------------

def records_of(rng, files):
    """A file of step records, its path and its records."""
    path = rng.choice([path for path in files if path.endswith("steps.jsonl")])
    return path, [json.loads(line) for line in files[path].splitlines()]


def lose_steps(rng, files):
    """Of one rank or of all, any steps."""
    kept = rng.choice((0.9, 0.5, 0.2, 0.05))
    numbers = {step for step in range(60) if rng.random() < kept}
    of_all = rng.random() < 0.6
    for path in [path for path in files if path.endswith("steps.jsonl")] if of_all else \
            [records_of(rng, files)[0]]:
        lines = [line for line in files[path].splitlines() if json.loads(line)["step"] in numbers]
        files[path] = "".join(line + "\n" for line in lines)


def lose_fields(rng, files):
    """In some steps a block or a member of one."""
    path, records = records_of(rng, files)
    for record in records:
        if rng.random() < 0.3:
            block = record.get(rng.choice(("phases", "scalars", "memory")), {})
            if block and rng.random() < 0.7:
                block.pop(rng.choice(list(block)))
            else:
                block.clear()
    files[path] = gates.text_of(records)


def lose_values(rng, files):
    """In some steps a value is no number any more."""
    path, records = records_of(rng, files)
    for record in records:
        if rng.random() < 0.2:
            block = record[rng.choice(("phases", "memory"))]
            block[rng.choice(list(block))] = rng.choice((None, float("nan"), "?", -1, 1e300, [], {}))
    files[path] = gates.text_of(records)


def lose_meta(rng, files):
    """A member of a run.json, or all of it. (How many ranks there are stays known by the others.)"""
    path = rng.choice([path for path in files if path.endswith("run.json")])
    meta = json.loads(files[path])
    key = rng.choice(list(meta))
    if rng.random() < 0.3:
        del files[path]
    else:
        del meta[key]
        files[path] = json.dumps(meta)


def lose_rank(rng, files):
    """A rank that the others show to be missing; one stays."""
    folders = sorted({path.rsplit("/", 1)[0] for path in files})
    side = rng.choice(sorted({folder.split("/")[0] for folder in folders}))
    own = [folder for folder in folders if folder.startswith(side + "/")]
    if len(own) < 2:
        return
    lost = rng.choice(own)
    if rng.random() < 0.5:
        for path in [path for path in files if path.startswith(lost + "/")]:
            del files[path]
    else:
        files[lost + "/steps.jsonl"] = rng.choice(("", "\0" * 64, "{", b"\xff\xfe{\0"))


def lose_bytes(rng, files):
    """The end of a file."""
    path = rng.choice([path for path in files if "run.json" not in path])
    content = files[path]
    files[path] = content[:rng.randrange(len(content) // 4, max(len(content), 1))]


def lose_events(rng, files):
    """Events, or fields of them."""
    path = next(iter(files))
    is_packed = path.endswith(".gz")
    document = json.loads(gzip.decompress(files[path]) if is_packed else files[path])
    events = document["traceEvents"]
    for event in events:
        if rng.random() < 0.2:
            key = rng.choice(("args", "dur", "tid", "pid", "cat", "ts", "name"))
            event.pop(key, None)
    if rng.random() < 0.5:
        document["traceEvents"] = [event for event in events
                                   if event.get("cat") != "kernel" or rng.random() < 0.7]
    text = json.dumps(document)
    files[path] = gzip.compress(text.encode(), mtime=0) if is_packed else text


OF_RUNS = (lose_steps, lose_fields, lose_values, lose_meta, lose_rank, lose_bytes)
KINDS = ((slow_run, OF_RUNS), (straggling_run, OF_RUNS), (changed_runs, OF_RUNS),
         (trace, (lose_bytes, lose_events)))


# ---- running ------------------------------------------------------------------------------------

def verdicts(program, folder, case):
    """Of each gate by itself, and the exit code of all."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    case.write(folder)
    arguments = [item for gate in case.gates for item in ("--fail-on", gate)]
    done = subprocess.run([program, case.command, "--format", "json", "--top", "1", *arguments,
                           *case.operands], cwd=folder, capture_output=True, text=True, check=False,
                          timeout=60)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"exit {done.returncode}: {done.stderr}")
    if not done.stdout:
        return {}, done.returncode
    found = {}
    for gate in gates.gates_of(json.loads(done.stdout)):
        verdict = gates.HELD if gate["held"] else gates.TRIPPED
        # Of several runs that one input became the worst counts.
        if found.get(gate["expr"]) != gates.TRIPPED:
            found[gate["expr"]] = verdict
    return found, done.returncode


def main():
    program = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    cases = judged = wrong = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place) / "case"
        while cases < count:
            seed += 1
            rng = random.Random(seed)
            build, losses = rng.choice(KINDS)
            whole = build(rng)
            before, _ = verdicts(program, folder, whole)
            tripping = [gate for gate, verdict in before.items() if verdict == gates.TRIPPED]
            for loss in rng.choices(losses, k=LOSSES_PER_INPUT):
                files = dict(whole.files)
                loss(rng, files)
                if rng.random() < 0.3:
                    lose_bytes(rng, files)
                left = Input(files, whole.command, whole.operands, tripping)
                after, code = verdicts(program, folder, left)
                cases += 1
                judged += len(tripping)
                for gate in tripping:
                    if after.get(gate) == gates.HELD:
                        wrong += 1
                        print(f"seed {seed}, {build.__name__}, {loss.__name__}: {gate} holds")
                        if wrong <= 3 and len(sys.argv) > 4:
                            shutil.copytree(folder, f"{sys.argv[4]}/{seed}-{cases}")
                if code == 0 and tripping:
                    print(f"seed {seed}, {loss.__name__}: exit 0")
    print(f"{cases} cases, {judged} gates that tripped, {wrong} held afterwards")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
