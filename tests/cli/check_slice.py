#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slice of some steps gives the same figures for these steps as the whole trace, and is a trace
that viewers take.

usage: check_slice.py TSCOPE TESTDATA [GEN_TRACE [COUNT]]

With GEN_TRACE, a program that makes traces, also slices of COUNT random ones.
"""
import collections
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

# What says something of the steps; other analyzers look at the whole capture, also with --steps. The
# critical path is not among them: what it walks over may begin long before the step.
OF_STEPS = ("steps", "step_time", "series", "budget", "breakdown", "idle", "efficiency", "opportunities",
            "patterns", "inference", "python", "callbacks", "counters")
TRACES = [("run_before/trace.json", 5), ("two_steps.json.gz", 0), ("slow_loader.json", 0), ("rocm.json", 0),
          ("viztracer_torch.json", 0), ("cpu_only.json", 0), ("serving_eager.json", 0)]


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)


def facts(program, *arguments):
    done = run(program, "trace", "--format", "json", *arguments)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)["runs"][0]["facts"]
    return {name: found[name] for name in OF_STEPS if name in found}


def load(path):
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        return json.load(file)


def differences(a, b, place=""):
    """Places where two documents differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b}):
            yield from differences(a.get(key), b.get(key), f"{place}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (one, other) in enumerate(zip(a, b)):
            yield from differences(one, other, f"{place}[{i}]")
    elif a != b and "python_frame_count" not in place:
        yield f"{place}: {a!r}, in the slice {b!r}"


def check_steps(program, trace, steps, target):
    """Problems of a slice of these steps."""
    done = run(program, "slice", "--steps", steps, "--out", target, trace)
    if done.returncode:
        yield f"{trace} {steps}: {done.stderr}"
        return
    found = list(differences(facts(program, "--steps", steps, trace), facts(program, target)))
    if found:
        yield f"{trace} {steps}: {len(found)} differ: {found[:3]}"


def check_nesting(target, own):
    """Of two slices of a track viewers show the one inside the other, and cut or drop what crosses."""
    tracks = collections.defaultdict(list)
    for event in own:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    for events in tracks.values():
        ends = []
        for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
            end = round((event["ts"] + event["dur"]) * 1000)
            while ends and ends[-1] <= round(event["ts"] * 1000):
                ends.pop()
            if ends and end > ends[-1]:
                yield f"{target}: crosses another slice: {event}"
            ends.append(end)


def check_flows(target, events):
    """Viewers draw an arrow from a start to an end of the same category, name and id."""
    phases = collections.defaultdict(set)
    for event in events:
        if event["ph"] in "stf":
            phases[event.get("cat"), event["name"], event["id"]].add(event["ph"])
    for key, found in phases.items():
        if found == {"f"}:
            yield f"{target}: the flow {key} begins nowhere"


def check_viewer(target):
    """What viewers ask of a trace, and what is ours in it."""
    events = load(target)["traceEvents"]
    own = [event for event in events if event.get("cat") == "tscope"]
    for event in events:
        if event["ph"] == "X" and not (isinstance(event["ts"], (int, float)) and event.get("dur", 0) >= 0):
            yield f"{target}: {event}"
        if event["ph"] == "M" and not isinstance(event.get("args"), dict):
            yield f"{target}: says nothing: {event}"
        if event["ph"] == "C" and not all(isinstance(value, (int, float)) for value in event["args"].values()):
            yield f"{target}: counts no numbers: {event}"
    yield from check_nesting(target, own)
    yield from check_flows(target, own)
    names = {event["name"] for event in own}
    if not any(name.startswith("step ") for name in names) or "budget of the step" not in names:
        yield f"{target}: no track of steps: {names}"
    if not {event["ph"] for event in own} <= {"M", "X", "C"}:
        yield f"{target}: phases of our own events"


def check_refusals(program, folder, testdata):
    trace = testdata / "two_steps.json"
    for code, arguments in ((2, ["slice", trace]), (2, ["slice", "--keep-shapes", "--out", folder / "a", trace]),
                            (2, ["slice", "--out", folder / "a"]),
                            (3, ["slice", "--steps", "70:", "--out", folder / "a", trace]),
                            (3, ["slice", "--out", folder / "a", "-"]),
                            (2, ["slice", "--time", "5:4", "--out", folder / "a", trace]),
                            (4, ["slice", "--out", folder / "in.json", folder / "in.json"])):
        (folder / "in.json").write_bytes(trace.read_bytes())
        done = run(program, *arguments)
        if done.returncode != code:
            yield f"{arguments}: exit code {done.returncode}, not {code}: {done.stderr}"
    if (folder / "a").exists() or (folder / "in.json").read_bytes() != trace.read_bytes():
        yield "a refused slice changed something"


def check_parts(program, folder, testdata):
    """By time, and of devices only; a slice of a slice is as the slice."""
    trace, target = testdata / "run_before/trace.json", folder / "part.json"
    whole = load(trace)["traceEvents"]
    kernels = [event for event in whole if event.get("cat") == "kernel"]
    run(program, "slice", "--device-only", "--out", target, trace)
    kept = [event for event in load(target)["traceEvents"] if event.get("cat") != "tscope" and event["ph"] == "X"]
    if [event for event in kept if event["cat"] == "kernel"] != kernels or any(e["cat"] == "cpu_op" for e in kept):
        yield "--device-only keeps other events than those of devices"
    first, last = kernels[4]["ts"], kernels[8]["ts"]
    run(program, "slice", "--time", f"{first}:{last}", "--out", target, trace)
    kept = [event for event in load(target)["traceEvents"] if event.get("cat") == "kernel"]
    if [e for e in kernels if e["ts"] < last and e["ts"] + e["dur"] > first] != [e for e in kept if e["ts"] < last]:
        yield "--time keeps other kernels than those of that time"
    starts = {event["name"]: event["ts"] for event in whole if event["name"].startswith("ProfilerStep#")}
    halves = [(starts[f"ProfilerStep#{i}"] + starts[f"ProfilerStep#{i + 1}"]) // 2 for i in (6, 9)]
    run(program, "slice", "--time", f"{halves[0]}:{halves[1]}", "--out", target, trace)
    yield from (f"--time, steps 7 and 8 are whole: {text}" for text in
                differences(facts(program, "--steps", "7:8", trace), facts(program, target)))
    run(program, "slice", "--steps", "7:9", "--out", target, trace)
    run(program, "slice", "--out", folder / "again.json", target)
    once, twice = ([event for event in load(path)["traceEvents"] if event.get("cat") != "tscope"]
                   for path in (target, folder / "again.json"))
    if once != twice or facts(program, target) != facts(program, folder / "again.json"):
        yield "a slice of a slice is another"


def large_trace(path):
    """More than a thread reads at a time; names of threads and late launches stand far from the time they are about."""
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": 10000 * i,
               "dur": 9990} for i in range(40)]
    for i in range(16000):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 25 * i,
                       "dur": 5, "args": {"correlation": i, "more": "text " * 8}})
        if i % 1000 == 500:
            events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": i, "args": {"name": f"thread {i}"}})
    for i in range(16000):
        start = 25 * i + 10 if i % 997 else 390000 + i / 1000
        events.append({"ph": "X", "cat": "kernel", "name": f"k{i % 7}", "pid": 0, "tid": 7, "ts": start, "dur": 9,
                       "args": {"correlation": i, "device": 0, "stream": 7, "more": "text " * 8}})
    path.write_text(json.dumps({"traceEvents": events, "traceName": "t.json"}))


def check_second_reading(program, folder):
    """Several threads leave out of the second reading what one thread reads: the slices are the same bytes."""
    trace = folder / "large.json"
    large_trace(trace)
    for arguments in (["--steps", "0:1"], ["--steps", "20:21"], ["--steps", "39:"], ["--time", "100000:103000"],
                      ["--steps", "20:20", "--device-only"], ["--steps", "3:30"]):
        texts = []
        for threads in ("1", "3"):
            done = run(program, "slice", "--threads", threads, *arguments, "--out", folder / "again.json", trace)
            texts.append((done.returncode, done.stderr, (folder / "again.json").read_bytes()))
        if texts[0] != texts[1]:
            yield f"{arguments}: {len(texts[0][2])} bytes of one thread, {len(texts[1][2])} of three"
        if texts[0][0] or b'"thread 15500"' not in texts[0][2] and "--device-only" not in arguments:
            yield f"{arguments}: {texts[0][:2]}, names of threads"


SECRETS = ("secret", "Secret", "/home/", "customer")


def numbers(document):
    """The same with texts left out, and lists whose order is that of names sorted."""
    if isinstance(document, dict):
        return {key: numbers(value) for key, value in document.items()}
    if isinstance(document, list):
        return sorted((numbers(value) for value in document), key=repr)
    return None if isinstance(document, str) else document


def check_redaction(program, folder, testdata):
    """Names are gone, figures are not; without shapes those of FLOPs are."""
    for name, _ in TRACES:
        trace, target = testdata / name, folder / "redacted.json"
        if not trace.exists() or name == "viztracer_torch.json":  # what its functions do, their names say
            continue
        run(program, "slice", "--redact", "a passphrase", "--keep-shapes", "--out", target, trace)
        found = list(differences(numbers(facts(program, trace)), numbers(facts(program, target))))
        if found:
            yield f"{name} redacted: {len(found)} differ: {found[:3]}"
    trace = folder / "secret.json"
    events = load(testdata / "two_steps.json")["traceEvents"]
    events += [{"ph": "X", "cat": "user_annotation", "name": "load secret", "pid": 1, "tid": 1, "ts": 5000, "dur": 3},
               {"ph": "X", "cat": "cpu_op", "name": "Secret::op", "pid": 1, "tid": 1, "ts": 5001, "dur": 1,
                "args": {"Input Dims": [[123457]], "Call stack": "/home/a.py(1): secret", "x": {"y": ["customer"]}}},
               {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "secret.py"}},
               {"ph": "X", "cat": "python_function", "name": "\\u0073ecret.py(3): Secret", "pid": "secret", "tid": 1,
                "ts": 5000, "dur": 1}]
    trace.write_text(json.dumps({"traceName": "/home/secret.json", "host_name": "secret", "traceEvents": events}))
    for target in (folder / "plain.json", folder / "none.json"):
        run(program, "slice", *(["--redact", "p"] if target.stem == "none" else []), "--out", target, trace)
    plain, redacted = ((folder / name).read_text() for name in ("plain.json", "none.json"))
    if not all(word in plain for word in (*SECRETS, "123457")):
        yield "the trace to be redacted holds no secrets"
    yield from (f"redacted, and holds {word}" for word in (*SECRETS, "ecret.py", "123457") if word in redacted)
    if len(json.loads(plain)["traceEvents"]) != len(json.loads(redacted)["traceEvents"]):
        yield "redacted, and lost events"


def check_ranks(program, folder, testdata):
    """Ranks in one file: every event is there once, on one clock, and waits end when the last one comes."""
    run_folder, target = testdata / "ranks_slow_host", folder / "ranks.json.gz"
    done = run(program, "slice", "--steps", "12:13", "--out", target, run_folder)
    if done.returncode:
        yield f"ranks: {done.stderr}"
        return
    events = load(target)["traceEvents"]
    for rank, path in enumerate(sorted(run_folder.iterdir())):
        alone = folder / "alone.json"
        run(program, "slice", "--steps", "12:13", "--out", alone, path)
        wanted = [(e["name"], e["dur"]) for e in load(alone)["traceEvents"] if e.get("cat") != "tscope" and e["ph"] == "X"]
        found = [(e["name"], e["dur"]) for e in events if str(e["pid"]).startswith(f"rank {rank} ") and e["ph"] == "X"]
        if wanted != found:
            yield f"rank {rank} has {len(found)} events in a file of all, {len(wanted)} alone"
    own = [event for event in events if event.get("cat") == "tscope"]
    starts = {e["id"]: e for e in own if e["ph"] == "s"}
    ends = {e["id"]: e for e in own if e["ph"] == "f"}
    if not starts or starts.keys() != ends.keys():
        yield f"{len(starts)} arrows begin, {len(ends)} end"
    for name, end in ends.items():
        if abs(end["ts"] - starts[name]["ts"]) > 2:
            yield f"{name}: a wait ends {end['ts'] - starts[name]['ts']:.3f} us after the last one came"
        if not any(e["ph"] == "X" and e["name"].startswith("waits for") and e["pid"] == end["pid"] and
                   e["ts"] <= end["ts"] <= e["ts"] + e["dur"] for e in own):
            yield f"{name}: the arrow ends in no wait"
    done = run(program, "trace", target)
    if done.returncode != 3 or "slice of several ranks" not in done.stderr:
        yield f"a slice of ranks was read as a trace: {done.returncode}, {done.stderr}"
    first = min(e["ts"] for e in events if e.get("cat") == "kernel")
    run(program, "slice", "--time", f"{first}:{first + 500}", "--out", target, run_folder)
    times = [e["ts"] for e in load(target)["traceEvents"] if e.get("cat") == "kernel"]
    if not times or max(times) > first + 5000 or len(times) >= len([e for e in events if e.get("cat") == "kernel"]):
        yield "--time of several ranks keeps other events"


def check_all(program, folder, testdata):
    for name, first in TRACES:
        trace = testdata / name
        if not trace.exists():
            continue
        numbers = [step["step"] for step in facts(program, trace)["steps"]["list"]]
        for steps in (f"{numbers[0]}:{numbers[-1]}", f"{numbers[len(numbers) // 2]}:", f":{numbers[0]}"):
            for target in (folder / "slice.json", folder / "slice.json.gz"):
                yield from check_steps(program, trace, steps, target)
                yield from check_viewer(target)
    yield from check_redaction(program, folder, testdata)
    yield from check_ranks(program, folder, testdata)
    yield from check_parts(program, folder, testdata)
    yield from check_second_reading(program, folder)
    yield from check_refusals(program, folder, testdata)


def check_random(program, folder, generator, count):
    for case in range(count):
        seed = random.Random(case)
        target = folder / str(case)
        command = [sys.executable, generator, "--steps", seed.randint(6, 12), "--seed", case, "--only-rank", 0,
                   "--ranks", seed.choice((1, 2)), "--style", seed.choice(("classic", "kineto2026", "compact")),
                   "--events-per-step", seed.choice((40, 100, 300)), "--dataloader-stall", seed.choice((0, 10, 30)),
                   "--compress", seed.choice(("gz", "none")), *seed.sample(["--record-shapes", "--python-stack",
                                                                            "--memory"], seed.randint(0, 2)), target]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        trace = next(path for path in sorted(target.rglob("*.json*")) if "pt.trace" in path.name)
        numbers = [step["step"] for step in facts(program, trace)["steps"]["list"]]
        first = seed.choice(numbers)
        yield from check_steps(program, trace, f"{first}:{first + seed.randint(0, 3)}",
                               folder / f"{case}.{seed.choice(('json', 'json.gz'))}")


def main():
    program, testdata = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        problems = list(check_all(program, folder, testdata))
        if len(sys.argv) > 3:
            problems += check_random(program, folder, sys.argv[3], int((sys.argv + ["100"])[4]))
    print("\n".join(problems) or "all as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
