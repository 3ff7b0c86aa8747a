#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No output replaces an input, under whatever name, in whatever command, also with --force.

usage: keeps_inputs.py TSCOPE TESTDATA

Each input is a file that a command reads: of a folder, beside another, by a link, as a copy that is left
out, in a store of metrics, between two sides, as settings. Writing to it is exit 4; what is no input is replaced.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CAPTURE = "graphs/capture_traces/bs_4_rank0.json"
STORE = "metrics/mlruns/0/5f0c2e9ab41d47e3a6c8d1f20b7e9354/metrics/mfu"
# A command, files that it reads, options that write one (default: --output and --format).
SITUATIONS = [
    ("trace a.json", "a.json hard.json soft.json .tscope.yaml", "--output --flamegraph --format"),
    ("trace a.json --config other.yaml", "other.yaml", None),
    ("slice ranks", "ranks/rank0.pt.trace.json.gz ranks/rank0_again.json.gz", "--out"),
    ("slice a.json", "a.json hard.json soft.json .tscope.yaml", "--out"),
    ("memory oom.pickle", "oom.pickle .tscope.yaml", "--output --flamegraph --format"),
    ("report run", "run/rank0/steps.jsonl run/rank1/run.json run/dumps/nccl_trace_rank_2 .tscope.yaml", None),
    ("export run", "run/rank0/steps.jsonl run/rank1/run.json", "--to"),
    ("diff other run base.json other", "run/rank0/steps.jsonl run/rank1/run.json base.json", None),
    ("trend history.jsonl run other", "history.jsonl run/rank0/steps.jsonl .tscope.yaml", None),
    ("hang run/dumps", "run/dumps/nccl_trace_rank_0", None),
    ("report graphs", CAPTURE, None),
    ("report ranks", "ranks/rank0.pt.trace.json.gz ranks/rank0_again.json.gz", None),
    ("report maps", "MAP", None),
    ("diff maps run", "MAP", None),
    ("merge maps", "MAP", "--out"),
    ("report metrics", STORE, None),
]


def make_inputs(here, data, tscope):
    for name, path in (("run", "run_healthy"), ("other", "run_before"), ("run/dumps", "hang_order"),
                       ("ranks", "ranks_slow_loader"), ("graphs", "serving_graphs"), ("metrics", "run_metrics")):
        shutil.copytree(data / path, here / name, copy_function=shutil.copyfile)
    shutil.copyfile(data / "two_steps.json", here / "a.json")
    shutil.copyfile(data / "oom.pickle", here / "oom.pickle")
    shutil.copyfile(here / "ranks/rank0.pt.trace.json.gz", here / "ranks/rank0_again.json.gz")
    os.link(here / "a.json", here / "hard.json")
    os.symlink("a.json", here / "soft.json")
    for name in (".tscope.yaml", "other.yaml"):
        (here / name).write_text("report:\n  top: 5\n")
    tscope("report", "other", "--format", "baseline", "--output", "base.json")
    (here / "history.jsonl").write_bytes(tscope("report", "other", "--format", "metrics").stdout)
    tscope("map", "ranks/rank0.pt.trace.json.gz", "ranks/rank1.pt.trace.json.gz", "--out", "maps")


def contents(here):
    return {str(path): path.read_bytes() for path in here.rglob("*") if path.is_file()}


def main():
    program, data = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    features = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if "yaml: not built in" in features:
        print("project files cannot be read here")
        sys.exit(77)
    wrong = count = 0
    with tempfile.TemporaryDirectory() as place:
        here = pathlib.Path(place)

        def tscope(*arguments, **variables):
            return subprocess.run([program, *arguments], cwd=here, capture_output=True, check=False, timeout=60,
                                  env={**os.environ, **variables})

        def expect(expected, *arguments, **variables):
            nonlocal wrong, count
            count += 1
            before = contents(here)
            done = tscope(*arguments, **variables)
            after = contents(here)
            changed = [path for path in before if before[path] != after.get(path)]
            if done.returncode != expected or (changed and expected):
                wrong += 1
                print(f"{' '.join(arguments)}: exit {done.returncode}, changed: {changed}\n\t{done.stderr.decode()}")

        make_inputs(here, data, tscope)
        written = str(next((here / "maps").iterdir()).relative_to(here))
        for command, inputs, ways in SITUATIONS:
            for path in inputs.replace("MAP", written).split():
                for way in (ways or "--output --format").split():
                    value = f"csv={path}" if way == "--format" else path
                    expect(4, *command.split(), "--force", way, value)
        expect(4, "trace", "a.json", "--format", "github", GITHUB_STEP_SUMMARY="hard.json")
        expect(4, "trace", "a.json", "--format", "html=new", "--flamegraph", "./new")
        expect(4, "export", "run/rank0", "--out", "run/rank1", "--force")
        expect(4, "export", "run", "--out", "run", "--force")
        for form in ("json", "csv", "html", "text"):
            for _ in range(2):
                expect(0, "report", "ranks", "--full", "--format", form, "--output", f"ranks/out.{form}")
    print(f"{count} situations, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
