#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong calls: each exits as designed and says what is wrong and what to do instead.

usage: test_wrong_use.py TSCOPE TESTDATA
"""
import os
import re
import subprocess
import sys

PROGRAM, DATA = map(os.path.abspath, sys.argv[1:3])
USAGE, UNREADABLE, UNWRITABLE = 2, 3, 4

# Arguments, exit code, and what standard error must match.
CASES = (
    # commands
    ("", USAGE, "usage|no command"),
    ("foo", USAGE, "unknown command foo\n.*'tscope help' lists the commands"),
    ("trac two_steps.json", USAGE, "did you mean trace"),
    ("two_steps.json", USAGE, "no command given; did you mean: tscope report two_steps.json"),
    ("help foo", USAGE, "unknown command foo\n.*lists the commands"),
    ("help reprot", USAGE, "did you mean report"),
    ("--nope", USAGE, "unknown option --nope; options of commands follow the command"),
    ("rules FOO", USAGE, "unknown rule FOO\n.*'tscope rules' lists them"),
    ("rules sync", USAGE, "SYNC|lists them"),
    ("rules GC.PAUS", USAGE, "did you mean GC.PAUSE"),
    # options
    ("trace --nope two_steps.json", USAGE, "unknown option --nope\n.*'tscope help trace' lists the options"),
    ("trace --colr auto two_steps.json", USAGE, "did you mean --color"),
    ("trace --flops_per_step 1 two_steps.json", USAGE, "did you mean --flops-per-step"),
    ("trace -x two_steps.json", USAGE, "options have two dashes"),
    ("trace two_steps.json --top", USAGE, "--top needs a value"),
    ("trace --full=yes two_steps.json", USAGE, "expected true or false, not 'yes'"),
    ("trace --rank 0 two_steps.json", USAGE, "--rank only works with tscope report"),
    ("export --verbose run_mixed --out /nonexistent", USAGE, "--verbose only works with tscope"),
    # values
    ("trace --top x two_steps.json", USAGE, "--top: expected a whole number, not 'x'"),
    ("trace --top -1 two_steps.json", USAGE, "expected a whole number, not '-1'"),
    ("trace --top 99999999999999999999 two_steps.json", USAGE, "--top: expected"),
    ("trace --warmup 1.5 two_steps.json", USAGE, "--warmup: expected a whole number"),
    ("trace --steps 5:2 two_steps.json", USAGE, "expected A:B, the first and the last step, such as 3:5"),
    ("trace --steps a two_steps.json", USAGE, "expected A:B"),
    ("trace --peak-tflops 0 two_steps.json", USAGE, "expected a number of TFLOP/s above 0, such as 312"),
    ("trace --peak-tflops nan two_steps.json", USAGE, "expected a number of TFLOP/s"),
    ("trace --flops-per-step -3 two_steps.json", USAGE, "--flops-per-step: expected"),
    ("trace --model foo two_steps.json", USAGE, "unknown kind of model 'foo'; there is gpt"),
    ("trace --model gpt:layers=x two_steps.json", USAGE, "--model: .*layers"),
    ("trace --model gpt:layer=3 two_steps.json", USAGE, "--model: .*layer"),
    ("trace --format xml two_steps.json", USAGE, "expected text, json, .* not 'xml'"),
    ("trace --color maybe two_steps.json", USAGE, "expected auto, always or never, not 'maybe'"),
    ("trace --progress x two_steps.json", USAGE, "--progress: expected auto or never"),
    ("trace --undecided x two_steps.json", USAGE, "--undecided: expected fail or pass"),
    ("trace --memory-limit x two_steps.json", USAGE, "expected a number of bytes above 0, such as 4096, 64K"),
    ("trace --max-depth x two_steps.json", USAGE, "--max-depth: expected"),
    ("trace --threads x two_steps.json", USAGE, "--threads: expected"),
    ("trace --show kernel two_steps.json", USAGE, "did you mean kernels\\?\n.*sections are .*budget, callbacks"),
    ("trace --show qqqqq two_steps.json", USAGE, "there is no section qqqqq\n.*sections are .*"),
    ("trace --show kernels,,ranks two_steps.json", USAGE, "there is no section"),
    ("report --rank x run_mixed", USAGE, "--rank: expected a whole number, not 'x'"),
    ("report --rank 7 run_mixed", USAGE, "no file of that rank was read; the lowest is 0, the highest 1"),
    ("report --rank 3 two_steps.json", USAGE, "no file of that rank was read, only of rank 0"),
    ("report --rank 3 cpu_only.json", USAGE, "no file says its rank"),
    ("report --tag x=y run_mixed", USAGE, "--tag: expected"),
    ("report --scalar loss run_metrics", USAGE, "--scalar: lacks the metric: loss=NAME"),
    # gates
    ("trace --fail-on mfu flops.json", USAGE, "mfu needs a comparison, such as mfu>0"),
    ("trace --fail-on mfu<<3 flops.json", USAGE, "compared with a number, not '<3'"),
    ("trace --fail-on mfu<35 flops.json", USAGE, "did you mean 0.35 or 35%"),
    ("trace --fail-on nofact>3 flops.json", USAGE, "--list-facts' and 'tscope rules' list them"),
    ("trace --fail-on step_time.mean_mss>3 flops.json", USAGE, "did you mean step_time.mean_ns"),
    ("trace --fail-on kernels.by_name>3 flops.json", USAGE, "is a table, and no fact or rule"),
    ("trace --fail-on step_time.mean_ms>+5% flops.json", USAGE, "diff"),
    ("trace --fail-on severity>=bad flops.json", USAGE, "low, med or high|severity"),
    ("trace --rule NOPE.AT.ALL=off flops.json", USAGE, "unknown rule .*'tscope rules' lists them"),
    ("trace --rule GPU.IDLE=maybe flops.json", USAGE, "expected off, low, med or high after GPU.IDLE="),
    ("trace --rule GPU.IDLE.foo=3 flops.json", USAGE, "no parameter 'foo', but threshold"),
    ("trace --rule GPU.IDLE.threshold=x flops.json", USAGE, "GPU.IDLE.threshold"),
    # inputs
    ("trace", USAGE, "no file given: tscope trace FILE"),
    ("report", USAGE, "no .* given: tscope report PATH"),
    ("diff two_steps.json", USAGE, "compares two or more: nothing was given to compare"),
    ("trace nofile.json", UNREADABLE, "nofile.json: cannot open: No such file"),
    ("report nodir", UNREADABLE, "nodir: cannot open: No such file"),
    ("trace run_mixed", UNREADABLE, "is a directory; tscope report reads directories"),
    ("memory two_steps.json", UNREADABLE, "a trace: use `tscope trace`"),
    ("trace leak_a.pickle", UNREADABLE, "use `tscope memory FILE`"),
    ("trace fsdp_mem_rank_0_training_step_1.log", UNREADABLE, "use `tscope memory FILE`"),
    ("trace execution_trace.json", UNREADABLE, "an execution trace \\(ExecutionTraceObserver\\), not"),
    ("trace empty_window.json", UNREADABLE, "schedule never reached its active"),
    ("trace --steps 90:99 two_steps.json", UNREADABLE, "no step from 90 to 99: the trace has steps 1 to 2"),
    ("hang two_steps.json", UNREADABLE, "two_steps.json"),
    ("report --config nofile.yaml run_mixed", USAGE, "nofile.yaml: No such file or directory; --no-config goes on without it"),
    # outputs
    ("trace --output /nonexistent/x two_steps.json", UNWRITABLE, "cannot write /nonexistent/x: No such file"),
    ("trace --output two_steps.json two_steps.json", UNWRITABLE, "it is an input"),
    ("trace --format json=/nonexistent/x two_steps.json", UNWRITABLE, "cannot write /nonexistent/x"),
    ("export run_mixed", USAGE, "--out|--to"),
)
# Unmatched filters are said, and the report is made.
UNMATCHED = (
    ("trace --step-marker train_loop two_steps.json", "", "train_loop"),
    ("report --step-marker train_loop two_steps.json", "", "train_loop"),
    ("report --scalar loss=nothing run_metrics", "", "nothing"),
    ("trace --warmup 2 two_steps.json", "", "--warmup 2 leaves no step to judge"),
    ("report --warmup 12 run_healthy", "", "--warmup 12 leaves no step to judge"),
    ("trace --show pipeline cpu_only.json", "no section pipeline: this input has nothing", ""),
)


def run(words):
    return subprocess.run([PROGRAM, *words.split()], cwd=DATA, check=False, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80"})


def problems():
    for words, code, message in CASES:
        done = run(words)
        if done.returncode != code:
            yield f"tscope {words}: exits with {done.returncode}, not {code}: {done.stderr}"
        elif not re.search(message, done.stderr, re.DOTALL):
            yield f"tscope {words}: says {done.stderr!r}, not {message!r}"
        if done.stdout and words and code != UNWRITABLE:
            yield f"tscope {words}: a report all the same"
    for words, shown, message in UNMATCHED:
        done = run(words)
        if done.returncode != 0 or shown not in done.stdout or message not in done.stderr + done.stdout:
            yield f"tscope {words}: {done.returncode} {done.stderr!r}"


def main():
    found = list(problems())
    print("\n".join(found))
    print(f"# {len(CASES) + len(UNMATCHED)} calls, {len(found)} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
