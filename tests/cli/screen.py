# SPDX-License-Identifier: MIT
"""What a default report promises: one screen of a terminal, with the answer in its first line."""
import collections
import os
import re
import subprocess
import unicodedata

ROWS, COLUMNS = 24, 80
LAST_LINE = re.compile(r"  more: --full")
# Of a sentence that states something about a run.
VERBS = re.compile(r"\b(is|are|was|were|has|have|had|takes?|took|goes|go|waits?|costs?|uses?|used|"
                   r"spends?|saves?|grows?|grew|rises?|falls?|fell|tried|ends?|ended|records?|"
                   r"recorded|reads?|jumps?|arrives?|arrived|launch|launches|varies|copies|shows?|"
                   r"give|gives|serves|marks?|needs?|gets|comes|failed|reserves?|passes|holds?|"
                   r"lost|passed|called|named|addressed|keeps|differs?|changed|stalls?|peaks|computes|communicates|idles|runs|found)\b")


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def verdict_of(lines):
    """The first line behind the head, with the lines that it goes on in."""
    first = lines.index("") + 1 if "" in lines else 0
    if lines and lines[0].startswith("found "):
        first = 0 # several runs
    end = first + 1
    while end < len(lines) and lines[end].startswith(" " * 8) and "->" not in lines[end]:
        end += 1
    return " ".join(line.strip() for line in lines[first:end])


def problems_of(text):
    """Yields what is wrong with a default report."""
    lines = text.splitlines()
    if len(lines) > ROWS:
        yield f"{len(lines)} lines"
    for line in lines:
        if columns_of(line) > COLUMNS:
            yield f"{columns_of(line)} columns: {line}"
    verdict = verdict_of(lines)
    if not VERBS.search(verdict) and "→" not in verdict:
        yield f"no verb: {verdict}"
    if not re.search(r"\d", verdict):
        yield f"no number: {verdict}"
    if not lines or not LAST_LINE.match(lines[-1]):
        yield "the last line does not say how to see more"


def repeated_rows(text):
    """Names that stand in several rows of a table of kernels."""
    for section in re.split(r"\n● ", text):
        for table in section.split("\n\n") if section.startswith("KERNELS") else ():
            if not table.startswith("  kernel"):
                continue
            names = collections.Counter(re.split(r"  +", line.strip())[0]
                                        for line in table.splitlines()[1:])
            yield from (name for name, count in names.items() if count > 1)


class Screens:
    """Renders inputs as a terminal of 80 columns shows them, and keeps what is wrong."""

    def __init__(self, program):
        self.program = program
        self.lengths = collections.Counter()
        self.problem_count = 0

    def run(self, command, paths, *arguments, columns=COLUMNS, locale="C.UTF-8"):
        environment = {**os.environ, "LC_ALL": locale, "COLUMNS": str(columns)}
        return subprocess.run([self.program, command, *arguments, *map(str, paths)], check=False,
                              capture_output=True, timeout=300, env=environment)

    def check(self, name, path):
        """With the first command that reads it; False: none does."""
        return any(self.check_command(name, command, path)
                   for command in ("trace", "memory", "report", "hang")
                   if not (command == "trace" and path.is_dir()))

    def check_command(self, name, command, *paths):
        """False: the command reads no such files."""
        done = self.run(command, paths)
        if done.returncode not in (0, 1) or not done.stdout:
            return False
        self.check_text(name, command, paths, done.stdout.decode())
        return True

    def check_text(self, name, command, paths, text):
        problems = list(problems_of(text))
        self.lengths[len(text.splitlines())] += 1
        kernels = self.run(command, paths, "--show", "kernels").stdout.decode() \
            if command != "diff" else ""
        problems += [f"two rows of kernels read {row}" for row in repeated_rows(kernels)]
        narrow = self.run(command, paths, columns=60, locale="C").stdout.decode()
        if len(narrow.splitlines()) > ROWS:
            problems.append(f"{len(narrow.splitlines())} lines on 60 columns")
        for problem in problems:
            print(f"# {name}: {problem}")
        self.problem_count += len(problems)

    def check_golden(self, name, text):
        self.lengths[len(text.splitlines())] += 1
        for problem in problems_of(text):
            print(f"# {name}: {problem}")
            self.problem_count += 1

    def exit_status(self):
        lengths = ", ".join(f"{count} of {length}" for length, count in sorted(self.lengths.items()))
        print(f"# {sum(self.lengths.values())} reports; by lines: {lengths}")
        return 1 if self.problem_count or not self.lengths else 0
