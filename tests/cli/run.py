#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the program as a user does and compares what it says with what it should say.

usage: run.py [--update] TSCOPE TESTDATA [CASE]...

A case is a shell script <case>.sh, run with `tscope` on the PATH in an empty folder where `data`
is testdata/. Beside it stand what is expected:

  <case>.exit            the exit status
  <case>.stdout.exact    all of standard output; or .stdout.glob, in which * stands for any text
  <case>.stderr.exact    within a line. Where neither is there, nothing may be written.

A report in JSON must also be what schema/tscope-report.schema.json says.

Which rules a report could not evaluate is shown by the cases in ALL_RULES only: a new rule changes
these and its own. In the others "..." stands for it.

--update rewrites .exit and .exact files; look at the difference as you would at code. A case that
cannot run here exits with 77. Results are printed in the Test Anything Protocol.
"""
import argparse
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

HERE = pathlib.Path(__file__).parent
SCHEMA = HERE.parents[1] / "schema/tscope-report.schema.json"
# Without python3-jsonschema reports are not validated.
VALIDATOR = jsonschema and jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
SKIP = 77
TIMEOUT_SECONDS = 120
# What a script sees of the outside: nothing that changes how a report looks.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "COLUMNS": "80"}
KEPT = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
ALL_RULES = ("memory_growth_json", "memory_growth_text", "report_healthy_json",
             "report_healthy_text", "report_mixed_verbose", "report_narrow")
# What a rule that nobody asked for shows in: counts of rules, the section and the array about them.
RULES = re.compile(r"(?<=no findings of )\d+ rules?|(?<=no findings; )\d+ rules?(?= had no data)"
                   r"|(?<=NOT EVALUATED)(?=\n|\x1b|  \d)[^\n]*\n(?:  [^\n]*\n)*"
                   r'|(?<="not_evaluated": \[\n)(?: +\{"id": [^\n]*\n)+')


def run_case(script, program, testdata):
    """Exit status, standard output and standard error of a case."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(testdata, os.path.join(folder, "data"))
        bin_folder = os.path.join(folder, "bin")
        os.mkdir(bin_folder)
        os.symlink(program, os.path.join(bin_folder, "tscope"))
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment.update(ENVIRONMENT, PATH=bin_folder + ":" + os.environ["PATH"])
        done = subprocess.run(["sh", str(script)], cwd=folder, env=environment, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_SECONDS)
    return done.returncode, {"stdout": done.stdout.decode(errors="backslashreplace"),
                             "stderr": done.stderr.decode(errors="backslashreplace")}


def without_rules(case, streams):
    """The streams as the case's files have them: without what a new rule would change."""
    if case in ALL_RULES:
        return streams
    return {name: RULES.sub(lambda found: "..." + "\n" * found[0].endswith("\n"), text)
            for name, text in streams.items()}


def expected_text(case, stream):
    """What a case's stream should hold, and whether as a glob."""
    exact, glob = (HERE / f"{case}.{stream}.{kind}" for kind in ("exact", "glob"))
    if glob.is_file():
        return glob.read_text(), True
    return exact.read_text() if exact.is_file() else "", False


def matches(text, expected, is_glob):
    if not is_glob:
        return text == expected
    pattern = re.escape(expected).replace(r"\*", "[^\n]*")
    return re.fullmatch(pattern, text) is not None


def problems_of(case, status, streams):
    """Yields lines that say what is wrong."""
    exit_file = HERE / f"{case}.exit"
    wanted = int(exit_file.read_text()) if exit_file.is_file() else None
    if status != wanted:
        yield f"exit status {status}, expected {wanted}"
    for stream, text in without_rules(case, streams).items():
        expected, is_glob = expected_text(case, stream)
        if not matches(text, expected, is_glob):
            yield from difflib.unified_diff(expected.splitlines(), text.splitlines(),
                                            f"expected {stream}", f"actual {stream}", lineterm="")
    if streams["stdout"].startswith("{"):
        yield from problems_of_json(streams["stdout"])


def problems_of_json(text):
    try:
        document = json.loads(text)
    except ValueError as error:
        yield f"stdout is not JSON: {error}"
        return
    if VALIDATOR and "schema_version" in document:
        error = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(document))
        if error:
            yield f"stdout is not as the schema says: {error.json_path}: {error.message[:500]}"


def update(case, status, streams):
    (HERE / f"{case}.exit").write_text(f"{status}\n")
    for stream, text in without_rules(case, streams).items():
        exact = HERE / f"{case}.{stream}.exact"
        if (HERE / f"{case}.{stream}.glob").is_file():
            continue
        if text:
            exact.write_text(text)
        elif exact.is_file():
            exact.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("program")
    parser.add_argument("testdata")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    scripts = sorted(path for path in HERE.glob("*.sh")
                     if not options.cases or path.stem in options.cases)
    print(f"1..{len(scripts)}")
    if not VALIDATOR:
        print("# python3-jsonschema is missing: reports in JSON are not held against the schema")
    failed = 0
    for number, script in enumerate(scripts, 1):
        status, streams = run_case(script, os.path.abspath(options.program),
                                   os.path.abspath(options.testdata))
        if status == SKIP:
            print(f"ok {number} - {script.stem} # SKIP cannot run here")
            continue
        if options.update:
            update(script.stem, status, streams)
        problems = list(problems_of(script.stem, status, streams))
        print(f"{'not ok' if problems else 'ok'} {number} - {script.stem}")
        for line in problems:
            print(f"# {line}")
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
