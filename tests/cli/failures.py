#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets one system call or allocation of the program fail: exit 0 means the same as without it.

usage: failures.py TSCOPE TESTDATA FAIL_CALL [FAIL_MALLOC] [--runs N]    (default: every single call)

With --strict, exit 0 (1 where a gate trips) comes with the output and the files of the run without a
failure. Without, they may differ where standard error says more. Commands run with one thread, so that calls come in
the same order. A crash is wrong, as is a changed file that was there before, or a temporary one that
stays. FAIL_MALLOC is preloaded; it is left out where sanitizers have an allocator of their own.
"""
import errno
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

# Of one kind of call: the error it fails with.
CALLS = {
    "open": errno.EIO, "read": errno.EIO, "readdir": errno.EIO, "stat": errno.EIO, "lseek": errno.EIO,
    "write": errno.ENOSPC, "fsync": errno.EIO, "close": errno.EIO, "rename": errno.EIO,
    "mkdir": errno.ENOSPC, "chmod": errno.EPERM, "unlink": errno.EACCES, "access": errno.EIO,
    "readlink": errno.EIO, "mmap": errno.ENOMEM, "clone": errno.EAGAIN, "malloc": errno.ENOMEM,
}
# {data}: the test data; here: a folder of its own that holds an old report "out".
COMMANDS = {
    "trace": "trace --format json {data}/two_steps.json.gz",
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
    "gate trips": "report --format json --fail-on step_time.mean_ms>1 {data}/run_healthy",
}
LOADER = ("open", "read", "stat", "close", "mmap", "access")  # called before main()


class Runner:
    def __init__(self, program, fail_call, fail_malloc, folder):
        self.program, self.fail_call, self.fail_malloc, self.folder = program, fail_call, fail_malloc, folder

    def run(self, arguments, call, number):
        """Exit code, output, files written, standard error, how many calls, and what the failed one was about."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        (self.folder / "out").write_text("old")
        environment = {**os.environ, "LC_ALL": "C.UTF-8",
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        command = [self.program, *arguments]
        if call == "malloc":
            environment.update(LD_PRELOAD=self.fail_malloc, FAIL_AT=str(number))
        else:
            command = [self.fail_call, call, str(number), str(CALLS[call]), *command]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False, timeout=120,
                              env=environment)
        files = {str(path.relative_to(self.folder)): path.read_bytes()
                 for path in sorted(self.folder.rglob("*")) if path.is_file()}
        said, _, calls = done.stderr.decode(errors="replace").rpartition("fail_call:")
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
    if code not in (whole[0], 3, 4, 5, 127):  # 127: the loader's
        return f"exit code {code}"
    if code == whole[0] and (stdout, files) != whole[1:3] and (is_strict or said == whole[3]):
        return f"exit {code}, and not the same was written"
    if code > 1 and not said.strip():
        return f"exit code {code} without a word"
    if any(name.rsplit("/", 1)[-1].startswith(".") for name in files):
        return "a temporary file stays"
    if files.get("out") not in (b"old", whole[2].get("out")) and not (code in (0, 3) and is_json(files["out"])):
        return "a part of a report is in the place of the old one"
    return None


def cases_of(runner, data, kinds):
    """(Command's name, arguments, call, its number), and the run without a failure for each command."""
    cases, wholes = [], {}
    before = runner.run(["--version"], "open", 0)[4]
    for name, line in COMMANDS.items():
        for strictness in ((), ("--strict",)):
            key = " ".join((name, *strictness))
            arguments = [*line.format(data=data).split(), *strictness, "--threads", "1"]
            for kind in kinds:
                wholes[key] = runner.run(arguments, kind, 0)
                if wholes[key][0] not in (0, 1):
                    sys.exit(f"{key}: {wholes[key][3]}")
                cases += [(key, arguments, call, number) for call, count in wholes[key][4].items()
                          for number in range(1 + (before[call] if call in LOADER else 0), count + 1)]
    return cases, wholes


def main():
    arguments = sys.argv[1:]
    runs = int(arguments.pop()) if "--runs" in arguments else None
    arguments = [os.path.abspath(path) for path in arguments if path != "--runs"]
    program, data, fail_call, *fail_malloc = arguments
    if subprocess.run([fail_call, "open", "0", "0", program, "--version"], capture_output=True,
                      check=False).returncode != 0:
        print("system calls cannot be made to fail here")
        sys.exit(77)
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        runner = Runner(program, fail_call, fail_malloc[0] if fail_malloc else "", pathlib.Path(place) / "here")
        cases, wholes = cases_of(runner, data, ["open", "malloc"] if fail_malloc else ["open"])
        if runs is not None and runs < len(cases):
            cases = random.Random(1).sample(cases, runs)
        for key, of, call, number in cases:
            failed = runner.run(of, call, number)
            problem = problem_of(wholes[key], failed, "--strict" in of)
            if problem:
                wrong += 1
                print(f"{key}: {call} {number} ({failed[5]}): {problem}: {failed[3].strip()[:300]}")
    print(f"{len(cases)} runs with a failure, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
