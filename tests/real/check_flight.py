#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tscope hang on dumps that PyTorch's own flight recorder wrote of jobs that hang: which rank and call.

usage: check_flight.py TSCOPE    TSCOPE_TORCH_PYTHON: words of a command that runs a Python with
                                 PyTorch of 2.8 or later; without one the test is skipped
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import program

RECORDER = program.SOURCE_ROOT / "tests/reference/record_flight.py"
WORLD, LIMIT_S = 4, 120
PROBE = "from torch._C._distributed_c10d import _dump_fr_trace_json"
# Kind, culprits, call that is waited in, its number.
CASES = {
    "clean": ("none", None, None, None),
    "skip": ("missing_call", "2", "all_gather", 15),
    "sleep": ("missing_call", "3", "all_gather", 15),
    "size": ("size", "1", "all_gather", 15),
    "message": ("missing_call", "1", "all_gather", 15),  # of gloo messages are not recorded
}


def torch_python():
    for words in (os.environ.get("TSCOPE_TORCH_PYTHON", "").split(), ["/usr/bin/python3"]):
        try:
            if words and not subprocess.run([*words, "-c", PROBE], capture_output=True,
                                            check=False).returncode:
                return words
        except OSError:
            pass
    print("skipped: no Python with a PyTorch whose flight recorder knows gloo")
    sys.exit(program.SKIPPED)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def record(python, scenario, folder):
    """Runs the job until it hangs, then ends it: each rank wrote dumps all the time."""
    for form in ("pickle", "json"):
        (folder / form).mkdir(parents=True)
    port = free_port()
    ranks = [subprocess.Popen([*python, RECORDER, scenario, folder, str(rank), port],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
             for rank in range(WORLD)]
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit and not all(
            (folder / f"hung_{rank}").exists() or ranks[rank].poll() is not None
            for rank in range(WORLD)):
        time.sleep(0.2)
    for rank in ranks:
        rank.kill()
        rank.wait()


def check(tscope, scenario, folder, results):
    kind, culprits, collective, sequence = CASES[scenario]
    done = tscope.run("hang", "--format", "json", "--full", folder)
    facts = json.loads(done.stdout)["runs"][0]["facts"]["hang"]
    name = f"{scenario} {folder.name}"
    results.check(f"{name} dumps", WORLD, facts["dump_count"])
    results.check(f"{name} kind", kind, facts["kind"])
    results.check(f"{name} culprits", culprits, facts.get("culprit_ranks"))
    results.check(f"{name} call", collective, facts.get("collective"))
    results.check(f"{name} number", sequence, facts.get("sequence"))
    results.check(f"{name} has calls", True, facts["call_count"] > 4 * WORLD)
    results.check(f"{name} exit code", int(kind != "none"), done.returncode)


def main():
    python = torch_python()
    tscope = program.Program(sys.argv[1])
    results = program.Results("--all" in sys.argv[2:])
    with tempfile.TemporaryDirectory() as scratch:
        for scenario in CASES:
            folder = pathlib.Path(scratch) / scenario
            record(python, scenario, folder)
            for form in ("pickle", "json"):
                check(tscope, scenario, folder / form, results)
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
