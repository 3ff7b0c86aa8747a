# SPDX-License-Identifier: MIT
"""Which stage and which analyzer the instructions of a report go to, by valgrind's callgrind: the
same figures at every run, and no part of the program is there for them.

To add a stage: a line in STAGES. An analyzer is found by its file's name.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import tempfile

# Stage → the function that is all of it. Of a stage inside another the other's share holds it, too.
STAGES = {
    "decode and build": "tsi_decode",
    "finish the model": "tsi_builder_finish",
    "timeline": "tscope_timeline_build",
    "flops": "tsi_trace_flops_new",
    "report": "tscope_report_write",
}
ANALYZER_FILE = re.compile(r"analyze_(\w+)\.c")
ANALYZER_FUNCTION = "run"
SOURCE_FOLDER = re.compile(r".*/src/(\w+)/")
COLLECTED = re.compile(r"Collected : (\d+)")
OPTIONS = ["--tool=callgrind", "--compress-strings=no", "--compress-pos=no"]


class Profile:
    """Instructions, all of them and those of each stage, analyzer and folder."""

    def __init__(self, lines):
        self.total, self.folders = 0, collections.Counter()
        self.called = collections.Counter()  # (file's name, function) → with all that it calls
        self.read(lines)

    def read(self, lines):
        file = caller = callee_file = callee = None
        is_call = False  # the next line of costs is of a call
        for line in lines:
            key, _, value = line.rstrip("\n").partition("=")
            if key in ("fl", "fi", "fe"):
                file = value
                callee_file = None
            elif key == "fn":
                caller = function_name(value)
            elif key in ("cfi", "cfl"):
                callee_file = value
            elif key == "cfn":
                callee = (pathlib.PurePath(callee_file or file).name, function_name(value))
                callee_file = None
            elif key == "calls":
                is_call = True
            elif line[:1].isdigit():
                cost = int(line.split()[1])
                if not is_call:
                    self.add_own(file, cost)
                elif caller != callee[1] or callee[1] == ANALYZER_FUNCTION:
                    self.called[callee] += cost
                is_call = False

    def add_own(self, file, cost):
        self.total += cost
        found = SOURCE_FOLDER.match(file)
        self.folders[found[1] if found else "libraries"] += cost

    def stages(self):
        """[(name, instructions)]; a function that is not there has none."""
        for name, function in STAGES.items():
            yield name, sum(cost for (_, called), cost in self.called.items()
                            if called == function)
        for (file, function), cost in sorted(self.called.items()):
            if function == ANALYZER_FUNCTION and (found := ANALYZER_FILE.fullmatch(file)):
                yield f"analyzer {found[1]}", cost


def function_name(text):
    return text.split("'")[0]


def is_there():
    return shutil.which("valgrind") is not None


def count(command):
    """All instructions of a command."""
    done = subprocess.run(["valgrind", *OPTIONS, "--callgrind-out-file=/dev/null", *command],
                          check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    return int(COLLECTED.search(done.stderr)[1])


def measure(command):
    """The profile of a command."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["valgrind", *OPTIONS, f"--callgrind-out-file={out.name}", *command],
                       check=True, capture_output=True)
        with open(out.name, encoding="utf-8", errors="replace") as lines:
            return Profile(lines)
