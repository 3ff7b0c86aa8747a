# SPDX-License-Identifier: MIT
"""Runs tscope, finds the traces to run it on, and counts what agreed and what did not."""
import json
import os
import pathlib
import subprocess
import sys

SKIPPED = 77  # what meson calls a skipped test
SOURCE_ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("TSCOPE_SHARED", SOURCE_ROOT.parent / "shared"))
DATA = SHARED / "data"
TESTDATA = SOURCE_ROOT / "testdata"
TIME_LIMIT_S = 300


def need(path):
    """Ends the test as skipped where something of the shared folder is not there."""
    if not path.exists():
        print(f"skipped: no {path.name} beside the source tree (see TSCOPE_SHARED)")
        sys.exit(SKIPPED)
    return path


class Program:
    """The tscope under test."""

    def __init__(self, path):
        self.path = str(pathlib.Path(path).resolve())

    def run(self, *arguments, **options):
        return subprocess.run([self.path, *map(str, arguments)], capture_output=True, check=False,
                              timeout=TIME_LIMIT_S, env={**os.environ, "LC_ALL": "C.UTF-8"},
                              **options)

    def report(self, path, *arguments):
        """The JSON report of one trace; an error where there is none."""
        done = self.run("trace", "--format", "json", "--full", *arguments, path)
        if done.returncode != 0:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode().strip()}")
        return json.loads(done.stdout)["runs"][0]


class Results:
    """Counts comparisons and prints those that differ (or all of them)."""

    def __init__(self, prints_all=False):
        self.prints_all = prints_all
        self.agreed = self.differed = 0

    def check(self, name, expected, found, reason=""):
        """reason: why a difference is right; then it is printed and not counted against us."""
        agrees = expected == found
        if agrees or reason:
            self.agreed += 1
        else:
            self.differed += 1
        if self.prints_all or not agrees:
            verdict = "ok" if agrees else f"differs ({reason})" if reason else "DIFFERS"
            print(f"{verdict}: {name}: expected {expected}, tscope {found}")

    def near(self, name, expected, found, tolerance):
        """As check(), where the expected figure was rounded when it was published."""
        agrees = found is not None and abs(expected - found) <= tolerance
        self.check(name, expected, expected if agrees else found)

    def exit_status(self):
        print(f"{self.agreed} figures agree, {self.differed} differ")
        return 1 if self.differed or not self.agreed else 0


def short(path):
    """A path as files.tsv has it."""
    path = pathlib.Path(path)
    for root in (DATA, SOURCE_ROOT):
        if path.is_relative_to(root):
            return str(path.relative_to(root))
    return path.name


def rows_by_name(report, analyzer, table, *columns):
    """name → tuple of columns of a table of the report."""
    rows = report["facts"].get(analyzer, {}).get(table, [])
    return {row["name"]: tuple(row[column] for column in columns) for row in rows}
