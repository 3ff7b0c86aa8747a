#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports on a terminal: what goes through a pager, and what becomes of the exit code.

usage: test_pager.py TSCOPE TESTDATA [FAIL_MALLOC]     FAIL_MALLOC: preloaded, as for failures.py
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PROGRAM, DATA, *FAIL_MALLOC = map(os.path.abspath, sys.argv[1:4])
TRACE, RUN = DATA + "/two_steps.json", DATA + "/run_sick"
MARKED = "sed 's/^/PAGED /'"
VERDICT = "the device waits for the host to launch work"
TIMEOUT_S = 20


def run(arguments, pager=MARKED, rows=24, keys=b"", is_piped=False, **variables):
    """Exit code, and what the terminal showed."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("PAGER", "TSCOPE_PAGER", "LESS", "NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    environment.update({"LC_ALL": "C.UTF-8", "TERM": "xterm", **variables})
    if pager is not None:
        environment["TSCOPE_PAGER"] = pager
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    program = subprocess.Popen([PROGRAM, *arguments], stdin=theirs, stderr=theirs, env=environment,
                               stdout=subprocess.PIPE if is_piped else theirs, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(theirs)
    shown, end, pressed = b"", time.monotonic() + TIMEOUT_S, False
    while time.monotonic() < end:
        ready, _, _ = select.select([ours], [], [], 0.1)
        try:
            more = os.read(ours, 65536) if ready else b""
        except OSError: # the other end is closed
            break
        shown += more
        if keys and not pressed and b"\n" in shown and not more:
            os.write(ours, keys)
            pressed = True
        if not more and not ready and program.poll() is not None:
            break
    piped = program.stdout.read() if is_piped else b""
    code = program.wait(timeout=TIMEOUT_S)
    os.close(ours)
    return code, (shown + piped).decode().replace("\r\n", "\n")


def cases():
    """Name, whether it holds, what was shown."""
    code, text = run(["trace", TRACE])
    yield "a screen is not paged", code == 0 and "PAGED" not in text and VERDICT in text, text
    code, text = run(["trace", TRACE], rows=10)
    yield "what is taller is", code == 0 and text.count("PAGED") > 10, text
    code, text = run(["trace", "--full", TRACE])
    lines = text.rstrip("\n").split("\n")
    yield "and so are all sections", code == 0 and len(lines) > 24 and \
        all(line.startswith("PAGED") for line in lines), text
    yield "the verdict stands last, too", VERDICT in "\n".join(lines[-3:]) and \
        text.count(VERDICT) >= 2, text
    for command in (["report", "--full", RUN], ["memory", "--full", DATA + "/oom.pickle"],
                    ["diff", "--full", DATA + "/run_before", DATA + "/run_after"]):
        code, text = run(command)
        yield " ".join(command[:1]) + " pages", code == 0 and "PAGED" in text, text
        verdict = text.split("PAGED \n")[1].split("\n")[0]
        yield " ".join(command[:1]) + " repeats its verdict", text.count(verdict) == 2, text
    code, text = run(["hang", "--full", DATA + "/hang_order"], rows=10)
    yield "hang pages and keeps its exit code", code == 1 and "PAGED" in text, text
    code, text = run(["trace", "--full", "--no-pager", TRACE])
    yield "--no-pager", code == 0 and "PAGED" not in text and text.count(VERDICT) >= 2, text
    code, text = run(["trace", "--full", TRACE], is_piped=True)
    yield "never into a pipe", code == 0 and "PAGED" not in text and "saves" in text and \
        VERDICT not in text[-300:], text
    for quiet in ("", "cat"):
        code, text = run(["trace", "--full", TRACE], pager=quiet)
        yield f"the pager {quiet!r} is none", code == 0 and VERDICT in text, text
    code, text = run(["trace", "--full", TRACE], pager=None, PAGER="sed s/^/PAGER_/")
    yield "PAGER where TSCOPE_PAGER is not set", code == 0 and "PAGER_" in text, text
    code, text = run(["trace", "--full", TRACE], TERM="dumb")
    yield "a dumb terminal", code == 0 and "PAGED" not in text, text
    code, text = run(["trace", "--full", TRACE], pager="no-such-pager-here")
    yield "a pager that is missing", code == 0 and "not found" in text and VERDICT in text, text
    code, text = run(["trace", "--full", TRACE], pager=None, PATH="/nowhere")
    yield "no less", code == 0 and VERDICT in text and "not found" not in text, text
    code, text = run(["report", "--full", "--fail-on", "step_time.mean_ms>1", RUN], pager="head -n 2")
    yield "a reader who leaves early, and a gate that trips", code == 1 and "signal" not in text, text
    code, text = run(["report", "--full", "--fail-on", "step_time.mean_ms>0.1", DATA + "/run_before"],
                     pager="cat; sleep 5", keys=b"\x03")
    yield "an interrupt while the pager runs", code == 1, f"{code} {text}"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.txt")
        code, text = run(["trace", "--full", "--output", path, TRACE])
        yield "a file is not paged", code == 0 and text == "", text
        with open(path, encoding="utf-8") as file:
            yield "nor is its verdict repeated", VERDICT not in file.read()[-300:], text
    if subprocess.run(["which", "less"], capture_output=True, check=False).returncode == 0:
        code, text = run(["trace", "--full", TRACE], pager=None, keys=b"q")
        yield "less is left by q", code == 0 and VERDICT in text, text
        code, text = run(["trace", TRACE], pager=None, LESS="")
        yield "less does not see a screen", code == 0 and "END" not in text, text


def without_memory():
    """Reports on a terminal of which an allocation failed towards the end, when they are written."""
    def run_failing(at):
        code, text = run(["trace", "--full", TRACE], rows=1000, LD_PRELOAD=FAIL_MALLOC[0], FAIL_AT=str(at))
        return code, *text.rsplit("fail_call: malloc ", 1)

    _, whole, count = run_failing(0)
    count = int(count.split()[0])
    for at in range(count - 40, count + 1):
        code, text, _ = run_failing(at)
        yield f"allocation {at} fails", text == whole if code == 0 else "out of memory" in text, f"{code} {text}"


def main():
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    wrong = count = 0
    for name, holds, text in [*cases(), *(without_memory() if FAIL_MALLOC else ())]:
        count += 1
        if not holds:
            wrong += 1
            print(f"{name}: not so\n{text}")
    print(f"{count} checks of the pager, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
