#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tscope export --to: sums over SQL tables are the facts, CSV files hold the same rows, a run that is
exported again is replaced, and what is no database of ours stays as it is. Where pandas is installed, it
reads the same figures out of the database and the CSV files, and so does the sqlite3 program.

usage: check_export.py TSCOPE TESTDATA
"""
import csv
import importlib.util
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SKIP = 77
RUNS = ["run_before", "run_sick", "ranks_slow_host", "run_memory"]
# A fact of a rank, and the SQL that gives it again.
SUMS = {
    "kernels.total_ns": "SELECT sum(total_ns) FROM kernels WHERE run = ? AND of_rank IS ?",
    "kernels.count": "SELECT sum(count) FROM kernels WHERE run = ? AND of_rank IS ?",
    "operators.self_ns": "SELECT sum(self_ns) FROM operators WHERE run = ? AND of_rank IS ?",
    "collectives.total_ns": "SELECT sum(total_ns) FROM collectives WHERE run = ? AND of_rank IS ?",
    "collectives.bytes": "SELECT sum(bytes) FROM collectives WHERE run = ? AND of_rank IS ?",
    "step_time.count": "SELECT count(time_ns) FROM steps WHERE run = ? AND rank IS ?",
    "step_time.mean_ns": "SELECT cast(round(avg(time_ns)) AS INTEGER) FROM steps WHERE run = ? AND rank IS ?",
    "device_busy.event_ns": "SELECT sum(dur_ns) FROM spans WHERE run = ? AND rank IS ? AND device IS NOT NULL "
                            "AND class IN ('kernel', 'comm', 'memcpy', 'memset')",
}


def export(program, target, *arguments):
    return subprocess.run([program, "export", "--quiet", "--to", target, *arguments], capture_output=True,
                          text=True, check=False)


def check_sums(database, run):
    """Problems of one run of a database."""
    ranks = [rank for rank, in database.execute("SELECT rank FROM ranks WHERE run = ?", (run,))]
    checked = 0
    for rank in ranks:
        for name, query in SUMS.items():
            fact = database.execute("SELECT value FROM facts WHERE run = ? AND rank = ? AND device IS NULL AND name = ?",
                                    (run, rank, name)).fetchone()
            if fact and fact[0]:
                found, = database.execute(query, (run, rank)).fetchone()
                checked += 1
                if found != fact[0]:
                    yield f"run {run} rank {rank}: {name} is {fact[0]}, summed {found}"
        for line, total in database.execute("SELECT line, sum(ns) FROM budget b JOIN steps s USING (run, rank, step) "
                                            "WHERE run = ? AND rank = ? GROUP BY line", (run, rank)):
            fact = database.execute("SELECT value FROM facts WHERE run = ? AND rank = ? AND device IS NULL AND name = ?",
                                    (run, rank, f"budget.{line}_ns")).fetchone()
            if fact and abs(fact[0] - total) > 0:
                yield f"run {run} rank {rank}: budget.{line}_ns is {fact[0]}, summed {total}"
            checked += bool(fact)
    if checked < 4:
        yield f"run {run}: only {checked} sums"


def check_csv(program, folder, testdata, database):
    done = export(program, f"csv:{folder}/csv", str(testdata / RUNS[0]))
    if done.returncode:
        yield f"csv: {done.stderr}"
    for path in sorted((folder / "csv").glob("*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.reader(file, strict=True))
        names = ", ".join(f'"{name}"' for name in rows[0])
        wanted = database.execute(f'SELECT {names} FROM "{path.stem}" WHERE run = 1').fetchall()
        if len(wanted) != len(rows) - 1:
            yield f"{path.name}: {len(rows) - 1} rows, in SQL {len(wanted)}"
        for row, values in zip(rows[1:], wanted):
            for cell, value in zip(row, values):
                same = cell == ("" if value is None else str(value)) or (
                    isinstance(value, float) and float(cell) == value)
                if not same:
                    yield f"{path.name}: {cell!r}, in SQL {value!r}"
    if export(program, f"csv:{folder}/csv", str(testdata / RUNS[0])).returncode != 4:
        yield "files that exist were replaced without --force"


def check_pandas(database, folder):
    """Tables as people read them who know no SQL."""
    if not importlib.util.find_spec("pandas"):
        print("pandas is not installed: nobody else reads the tables")
        return
    import pandas  # pylint: disable=import-outside-toplevel
    facts = pandas.read_sql("SELECT * FROM facts WHERE device IS NULL", database)
    for table, column, name in (("kernels", "total_ns", "kernels.total_ns"), ("operators", "self_ns", "operators.self_ns"),
                                ("collectives", "bytes", "collectives.bytes")):
        sums = pandas.read_sql(f"SELECT * FROM {table}", database).groupby(["run", "of_rank"])[column].sum()
        wanted = facts[facts.name == name].dropna(subset=["rank"]).set_index(["run", "rank"]).value
        wrong = [(key, value, sums.get(key)) for key, value in wanted.items() if value and sums.get(key) != value]
        if wrong or wanted.empty:
            yield f"pandas: {name} of run and rank: {wrong}"
    rows = pandas.read_csv(folder / "csv" / "steps.csv")
    total, = database.execute("SELECT sum(time_ns) FROM steps WHERE run = 1").fetchone()
    if rows.time_ns.sum() != total:
        yield f"pandas: steps.csv has {rows.time_ns.sum()} ns, the database {total}"


def check_shell(database, path):
    """The sqlite3 program finds the file sound, every view readable, and as many rows as we do."""
    if not shutil.which("sqlite3"):
        print("there is no sqlite3: nobody else opens the database")
        return
    views = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name")]
    query = "PRAGMA integrity_check; " + " ".join(f'SELECT count(*) FROM "{name}";' for name in [*views, "facts"])
    done = subprocess.run(["sqlite3", "-readonly", path, query], capture_output=True, text=True, check=False)
    counts = [str(database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in [*views, "facts"]]
    if done.stdout.split() != ["ok", *counts] or not views:
        yield f"sqlite3: {done.stdout.split()} {done.stderr}, wanted ok and {counts}"


def check_refusals(program, folder, testdata):
    other = folder / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (x)")
    before = other.read_bytes()
    (folder / "text").write_text("no database")
    for path in ("other.sqlite", "text"):
        if export(program, str(folder / path), str(testdata / RUNS[0])).returncode != 4:
            yield f"{path} was written into"
    if other.read_bytes() != before or (folder / "text").read_text() != "no database":
        yield "a file of others was changed"
    if export(program, str(folder / "new.sqlite"), str(folder / "nothing")).returncode != 3:
        yield "a run that is not there"
    if (folder / "new.sqlite").exists():
        yield "an empty database was left behind"


def check_missing_library(program, folder, testdata):
    (folder / "libsqlite3.so.0").touch()
    done = subprocess.run([program, "export", "--to", str(folder / "missing.sqlite"), str(testdata / RUNS[0])],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
    if done.returncode != 4 or "cannot load libsqlite3.so.0; install it" not in done.stderr:
        yield f"without the library: {done.returncode}, {done.stderr}"


def check_manual(program, folder, testdata):
    """The figures of tscope-export(1) are those of its query."""
    manual = (pathlib.Path(__file__).parents[2] / "man/tscope-export.1").read_text(encoding="utf-8")
    shown = manual.split(".Pa slow_loader.json :\n.Bd -literal\n")[1].split("\n.Ed")[0].split("\n")
    export(program, str(folder / "manual.sqlite"), str(testdata / "slow_loader.json"))
    with sqlite3.connect(folder / "manual.sqlite") as database:
        rows = database.execute("SELECT line, sum(ns) FROM budget WHERE run = 1 GROUP BY line").fetchall()
    if shown != [f"{line}|{ns}" for line, ns in rows]:
        yield f"tscope-export(1) shows {shown}, the query gives {rows}"


def check_all(program, folder, testdata):
    path = str(folder / "history.sqlite")
    for name in [*RUNS, RUNS[0]]:
        done = export(program, path, "--events", "--fail-on", "kernels.count<0.5", str(testdata / name))
        if done.returncode not in (0, 1):
            yield f"{name}: {done.stderr}"
    database = sqlite3.connect(path)
    runs = [run for run, in database.execute("SELECT run FROM runs ORDER BY run")]
    if runs != list(range(1, len(RUNS) + 1)):
        yield f"runs {runs}"
    if database.execute("SELECT count(*) FROM gates WHERE run = 1").fetchone() != (1,):
        yield "the gate is not there, or twice"
    for run in runs[:3]:
        yield from check_sums(database, run)
    yield from check_csv(program, folder, testdata, database)
    yield from check_pandas(database, folder)
    yield from check_shell(database, path)
    yield from check_refusals(program, folder, testdata)
    yield from check_manual(program, folder, testdata)
    database.close()


def main():
    program, testdata = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
    features = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if "sqlite: not built in" in features:
        print("this build has no SQLite")
        return SKIP
    with tempfile.TemporaryDirectory() as name:
        problems = list(check_all(program, pathlib.Path(name), testdata))
        if "loaded by export" in features:
            problems += check_missing_library(program, pathlib.Path(name), testdata)
    print("\n".join(problems) or "all as it should be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
