#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What hostile traces and the sandbox cost: the peak of memory where names, processes or shapes never
repeat, against --max-memory, and the processor time of a start with and without the sandbox.

usage: limits.py TSCOPE [EVENTS]

Exit status 1: a trace of EVENTS (1,000,000) takes more than a limit and 10 %, or ends otherwise than
with a whole report, one that says what is missing, or an error that names the limit; or a start takes
more than 3 ms, which is measured where EVENTS is not given.
"""
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20
MOST_OVER, MOST_START_S, STARTS = 1.1, 0.003, 40
SPAN = b'{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%d,"dur":1,"args":{%s}},\n'


def operator(number, name=b"aten::mm", process=1, args=b""):
    return SPAN % (b"cpu_op", name, process, process, 2 * number, args)


# Name → operator i, whether it is packed.
BOMBS = {
    "names": (lambda i: operator(i, b"op%d" % i), True),
    "processes": (lambda i: operator(i, process=i, args=b'"External id":%d' % i), False),
    "shapes": (lambda i: operator(i, args=b'"Input Dims":[[%d,%d],[%d,%d]],"Input type":["float","float"]'
                                  % (i + 1, i % 7 + 1, i % 7 + 1, i + 2)), False),
}


def write(path, operator_of, is_packed, count):
    """A kernel beside each hundredth operator: without operators there is still something to report."""
    with (gzip.open(path, "wb", 6) if is_packed else open(path, "wb")) as out:
        out.write(b'{"schemaVersion":1,"traceEvents":[\n')
        for i in range(count):
            out.write(operator_of(i))
            if i % 100 == 0:
                out.write(SPAN % (b"kernel", b"gemm", 0, 7, 2 * i, b'"device":0,"stream":7'))
        out.write(SPAN.rstrip(b",\n") % (b"cpu_op", b"last", 1, 1, 2 * count, b"") + b"]}")


def run(*command):
    """Exit code, peak in bytes, processor time, standard error."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        said = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, said


def check_bomb(tscope, path, name, limit):
    """Peak, and whether it is wrong."""
    code, peak, seconds, said = run(tscope, "trace", "--strict", "--format", "json", "--max-memory", str(limit), path)
    is_named = code == 0 or "memory" in said or "limit" in said or "dropped" in said
    is_wrong = peak > MOST_OVER * limit or code not in (0, 3, 5) or not is_named
    print(f"{name}: {path.stat().st_size / 1e6:.1f} MB, limit {limit // MIB} MiB: peak {peak / MIB:.0f} MiB, exit {code}, "
          f"{seconds:.2f} s{', WRONG' if is_wrong else ''}: {said.strip().partition(chr(10))[0][-90:]}")
    return is_wrong


def check_start(tscope):
    """The best of many: a busy machine adds to all others."""
    best = {}
    for _ in range(STARTS):
        for option in ("--sandbox", "--no-sandbox"):
            arguments = [] if option == "--sandbox" else [option]
            seconds = run(tscope, "trace", *arguments, "/dev/null")[2]
            best[option] = min(best.get(option, seconds), seconds)
    is_wrong = best["--sandbox"] > MOST_START_S
    print(f"a start with the sandbox {1e3 * best['--sandbox']:.2f} ms, without {1e3 * best['--no-sandbox']:.2f} ms"
          f"{', WRONG' if is_wrong else ''}")
    return is_wrong


def main():
    is_whole = len(sys.argv) == 2
    tscope, count = os.path.abspath(sys.argv[1]), 1000000 if is_whole else int(sys.argv[2])
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (operator_of, is_packed) in BOMBS.items():
            path = pathlib.Path(folder) / (name + (".json.gz" if is_packed else ".json"))
            write(path, operator_of, is_packed, count)
            for share in (512, 256, 128):
                wrong += check_bomb(tscope, path, name, max(share * MIB * count // 1000000, 24 * MIB))
            path.unlink()
    wrong += is_whole and check_start(tscope)
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
