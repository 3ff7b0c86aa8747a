#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets one system call or allocation of the program fail: exit 0 means the same as without it.

usage: failures.py TSCOPE TESTDATA FAIL_CALL [FAIL_MALLOC] [--runs N] [--only WORD]
(default: every call of every command; only those with the word in their name)

With --strict, exit 0 (1 where a gate trips) comes with the output and the files of the run without a
failure. Without, they may differ where standard error says more. Commands run with one thread, so that calls come in
the same order. A crash is wrong, as is a changed file that was there before, a temporary one that stays,
or an empty folder. FAIL_MALLOC is preloaded; it is left out where sanitizers have an allocator of their own.
"""
import argparse
import errno
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

# Of one kind of call: the error it fails with.
CALLS = {
    "open": errno.EIO, "read": errno.EIO, "readdir": errno.EIO, "stat": errno.EIO, "lseek": errno.EIO,
    "write": errno.ENOSPC, "fsync": errno.EIO, "close": errno.EIO, "rename": errno.EIO,
    "mkdir": errno.ENOSPC, "chmod": errno.EPERM, "unlink": errno.EACCES, "access": errno.EIO,
    "readlink": errno.EIO, "fallocate": errno.ENOSPC, "mmap": errno.ENOMEM, "clone": errno.EAGAIN, "malloc": errno.ENOMEM,
}
# {data}: the test data; {made}: what make_inputs() wrote; here: a folder of its own that holds an old report "out".
COMMANDS = {
    "trace": "trace --format json {data}/two_steps.json.gz",
    "trace in a file": "trace --format json --memory-limit 11K {data}/run_before/trace.json",
    "trace of several": "trace --format json {data}/two_steps.json {data}/rocm.json",
    "trace to a file": "trace --format json --output out {data}/two_steps.json",
    "report": "report --format json {data}/run_healthy",
    "report of traces": "report --format json {data}/ranks_slow_loader",
    "report of composer": "report --format json {data}/composer",
    "report with metrics": "report --format json {data}/run_metrics",
    "report with memory": "report --format json {data}/run_memory",
    "report of two jobs": "report --format json {data}/mixed_worlds",
    "memory": "memory --format json {data}/oom.pickle",
    "memory, captures": "memory --format json {data}/host_memory/aggregated.bin",
    "diff": "diff --format json {data}/run_before {data}/run_after",
    "export": "export --out folder {data}/run_healthy",
    "export of traces": "export --out folder {data}/ranks_slow_loader",
    "hang, none": "hang --format json {data}/hang_clean",
    "hang": "hang --format json {data}/hang_order",
    "report with dumps": "report --format json {made}/hanging",
    "gate trips": "report --format json --fail-on step_time.mean_ms>1 {data}/run_healthy",
    "project file": "report --format json --config {made}/project.yaml {data}/run_healthy",
    "stacks and a page": "trace --format json --format html=page --flamegraph stacks {data}/two_steps.json",
    "stacks of memory": "memory --format csv --flamegraph stacks {data}/oom.pickle",
    "report of a tar": "report --format json {made}/ranks.tar",
    "report of a zip": "report --format json {made}/ranks.zip",
    "report of maps": "report --format json {made}/maps",
    "diff of several": "diff --format json {data}/run_before {data}/run_healthy {made}/baseline.json",
    "trend": "trend --format json {made}/history.jsonl {data}/run_healthy",
    "report of a report": "report --format json {made}/baseline.json",
    "map": "map --out folder {data}/ranks_slow_loader/rank1.pt.trace.json.gz {data}/run_healthy/rank0/steps.jsonl",
    "map of a list": "map --out folder --files-from {made}/list",
    "merge": "merge --out folder.tsr {made}/maps",
    "slice": "slice --out slice.json {data}/two_steps.json.gz",
    "slice, packed": "slice --device-only --out slice.json.gz {data}/two_steps.json",
    "slice of a run": "slice --out slice.json {data}/ranks_slow_loader",
    "report as text": "report --full {data}/ranks_slow_link",
    "trace as text": "trace --full {data}/serving_prefill.json",
    "job summary": "report --format github {data}/ranks_slow_link",
    "export to CSV": "export --events --to csv:folder {data}/ranks_slow_loader/rank1.pt.trace.json.gz",
    "export to a database": "export --to folder.sqlite {data}/run_healthy",
}
NEVER_STRICT = ("slice", "merge")  # what it writes is whole or not at all
LOADER = ("open", "read", "stat", "close", "mmap", "access")  # called before main()


class Runner:
    def __init__(self, program, fail_call, fail_malloc, folder):
        self.program, self.fail_call, self.fail_malloc, self.folder = program, fail_call, fail_malloc, folder
        self.before = {"out": b"old"}  # what is there when the program starts

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name, content in self.before.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content)

    def run(self, arguments, call, number, error=None):
        """Exit code, output, files written, standard error, how many calls, and what the failed one was about."""
        self.start()
        environment = {**os.environ, "LC_ALL": "C.UTF-8",
                       "GITHUB_STEP_SUMMARY": "summary.md",
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        command = [self.program, *arguments]
        if call == "malloc":
            environment.update(LD_PRELOAD=self.fail_malloc, FAIL_AT=str(number))
        else:
            command = [self.fail_call, call, str(number), str(error or CALLS[call]), *command]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False, timeout=120,
                              env=environment)
        files = {str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
                 for path in sorted(self.folder.rglob("*")) if path.is_file() or not any(path.iterdir())}
        said, mark, calls = done.stderr.decode(errors="replace").rpartition("fail_call:")
        if not mark:  # it crashed
            said, calls = calls, ""
        calls, _, about = calls.partition("|")
        counts = dict(zip(calls.split()[::2], map(int, calls.split()[1::2])))
        return done.returncode, done.stdout, files, said, counts, about.strip()


def is_json(text):
    try:
        return bool(json.loads(text))
    except ValueError:
        return False


def problem_of(whole, failed, is_strict):
    code, stdout, files, said = failed[:4]
    if code < 0 or code >= 128:
        return f"ended by a signal ({code})"
    if code == 1 and "Fatal Internal Error in libarchive" in said:  # which ends the program itself
        return None
    if code not in (whole[0], 3, 4, 5, 127):  # 127: the loader's
        return f"exit code {code}"
    if code == whole[0] and (stdout, files) != whole[1:3] and (is_strict or said == whole[3]):
        return f"exit {code}, and not the same was written"
    if code > 1 and not said.strip():
        return f"exit code {code} without a word"
    if any(name.rsplit("/", 1)[-1].startswith(".") for name in files):
        return "a temporary file stays"
    if None in files.values():
        return "an empty folder stays"
    if files.get("out") not in (b"old", whole[2].get("out")) and not (code in (0, 3) and is_json(files["out"])):
        return "a part of a report is in the place of the old one"
    return None


def make_inputs(program, data, made):
    """What commands write for others."""
    def tscope(*arguments):
        return subprocess.run([program, *arguments], check=True, capture_output=True).stdout

    made.mkdir()
    traces = sorted(f"{data}/ranks_slow_loader/{name}" for name in os.listdir(f"{data}/ranks_slow_loader"))
    tscope("map", "--out", str(made / "maps"), *traces)
    tscope("report", "--format", "baseline", "--output", str(made / "baseline.json"), f"{data}/run_after")
    (made / "history.jsonl").write_bytes(b"".join(
        tscope("report", "--format", "metrics", f"{data}/{run}") for run in ("run_before", "run_healthy") * 4))
    with tarfile.open(made / "ranks.tar", "w") as tar, zipfile.ZipFile(made / "ranks.zip", "w") as packed:
        for trace in traces:
            tar.add(trace, os.path.basename(trace))
            packed.write(trace, os.path.basename(trace), zipfile.ZIP_DEFLATED)
    (made / "list").write_text("\n".join(traces[:2]) + "\n")
    (made / "project.yaml").write_text("report:\n  fail-on: [step_time.mean_ms>1, straggler]\n")
    shutil.copytree(f"{data}/run_healthy", made / "hanging")
    shutil.copytree(f"{data}/hang_order", made / "hanging/dumps")


def cases_of(runner, data, made, kinds, only):
    """(Command's name, arguments, call, its number), and the run without a failure for each command."""
    cases, wholes = [], {}
    features = subprocess.run([runner.program, "--version"], capture_output=True, text=True, check=True).stdout
    before = runner.run(["--version"], "open", 0)[4]
    for name, line in COMMANDS.items():
        if only not in name or ("made}/ranks" in line and "libarchive: not built in" in features):
            continue
        never_strict = line.split()[0] in NEVER_STRICT
        for strictness in ((), ("--strict",))[:1 if never_strict else 2]:
            key = " ".join((name, *strictness))
            arguments = [*line.format(data=data, made=made).split(), *strictness, "--threads", "1"]
            for kind in kinds:
                wholes[key] = runner.run(arguments, kind, 0)
                if "(limit: memory-limit)" in wholes[key][3]:
                    print(f"{key}: left out, since no disk here takes the file")
                    break
                if wholes[key][0] not in (0, 1):
                    sys.exit(f"{key}: {wholes[key][3]}")
                cases += [(key, arguments, call, number) for call, count in wholes[key][4].items()
                          for number in range(1 + (before[call] if call in LOADER else 0), count + 1)]
    return cases, wholes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    program, data, fail_call, *fail_malloc = map(os.path.abspath, chosen.paths)
    if subprocess.run([fail_call, "open", "0", "0", program, "--version"], capture_output=True,
                      check=False).returncode != 0:
        print("system calls cannot be made to fail here")
        sys.exit(77)
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        runner = Runner(program, fail_call, fail_malloc[0] if fail_malloc else "", pathlib.Path(place) / "here")
        made = pathlib.Path(place) / "made"
        make_inputs(program, data, made)
        cases, wholes = cases_of(runner, data, made, ["open", "malloc"] if fail_malloc else ["open"],
                                 chosen.only)
        if chosen.runs is not None and chosen.runs < len(cases):
            cases = random.Random(1).sample(cases, chosen.runs)
        for key, of, call, number in cases:
            failed = runner.run(of, call, number)
            problem = problem_of(wholes[key], failed, "--strict" in of or of[0] in NEVER_STRICT)
            if problem:
                wrong += 1
                print(f"{key}: {call} {number} ({failed[5]}): {problem}: {failed[3].strip()[:300]}")
    print(f"{len(cases)} runs with a failure, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
