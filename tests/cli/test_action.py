#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executes the steps of action.yml as a runner does: a run that holds its gates, one that does not
and is compared with a baseline, one that cannot be read; a checkout of a pull request, with the
program of a release. Steps of other actions are not executed.

usage: test_action.py TSCOPE TESTDATA
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

try:
    import yaml
except ImportError:
    print("no python3-yaml")
    sys.exit(77)

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Job:
    """What `uses: tscope` with these inputs does on a pull request."""

    def __init__(self, folder, inputs, checkout=None, releases="https://nowhere.invalid"):
        self.folder, self.checkout = pathlib.Path(folder), checkout
        self.action = yaml.safe_load((SOURCE / "action.yml").read_text())
        self.names = {"github.token": "secret", "github.event.number": "7",
                      "github.event_name": "pull_request", "github.repository": "us/model",
                      "github.server_url": releases,
                      "github.action_repository": "us/tscope", "github.action_ref": "v0"}
        for name, about in self.action["inputs"].items():
            self.names[f"inputs.{name}"] = inputs.pop(name, about.get("default", ""))
        assert not inputs, f"no such input: {inputs}"
        self.summary = self.folder / "summary"
        self.log, self.has_failed = "", False
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "gh").write_text('#!/bin/sh\necho "gh $*"\n')
        (tools / "gh").chmod(0o755)
        self.path = f"{tools}:{os.environ['PATH']}"
        for step in self.action["runs"]["steps"]:
            if "run" in step and self.wants(step.get("if", "success()")):
                self.run(step)

    def expand(self, text):
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda name: self.names[name[1]], str(text))

    def wants(self, condition):
        words = re.sub(r"[a-z_]+(\.[\w-]+)+", lambda name: repr(self.names[name[0]]), condition)
        words = words.replace("&&", "and").replace("always()", "True")
        return eval(words.replace("success()", repr(not self.has_failed)))

    def run(self, step):
        output = self.folder / "output"
        output.write_text("")
        env = {"PATH": self.path, "RUNNER_TEMP": str(self.folder), "GITHUB_OUTPUT": str(output),
               "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_ACTION_PATH": str(SOURCE)}
        env |= {name: self.expand(value) for name, value in step["env"].items()}
        done = subprocess.run([step["shell"], "-ec", step["run"]], env=env, text=True, cwd=self.checkout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.log += done.stdout
        self.has_failed |= done.returncode != 0
        for line in output.read_text().splitlines():
            name, value = line.split("=", 1)
            self.names[f"steps.{step.get('id')}.outputs.{name}"] = value

    def output(self, name):
        return self.expand(self.action["outputs"][name]["value"])

    def file(self, name):
        return (pathlib.Path(self.output("folder")) / name).read_text()


def expect(job, code, log, summary):
    assert job.output("exit-code") == str(code), (job.output("exit-code"), job.log)
    assert job.has_failed == (code != 0)
    for words in log:
        assert words in job.log, f"no {words!r} in:\n{job.log}"
    shown = job.summary.read_text() if job.summary.exists() else ""
    for words in summary:
        assert words in shown, f"no {words!r} in the summary:\n{shown}"


def commit(folder, message, run):
    """A commit of a project whose job leaves a run."""
    shutil.rmtree(folder / "runs", ignore_errors=True)
    shutil.copytree(run, folder / "runs/latest")
    git = ["git", "-C", folder, "-c", "user.name=me", "-c", "user.email=me@here.invalid"]
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", message], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, text=True, capture_output=True).stdout.strip()


def make_release(folder, tscope):
    """What scripts/release leaves, where a server would have it."""
    name = f"tscope-0-linux-{os.uname().machine}"
    place = folder / "us/tscope/releases/download/v0"
    (folder / name).mkdir()
    place.mkdir(parents=True)
    (folder / name / "tscope").write_text(f'#!/bin/sh\nexec {tscope} "$@"\n')
    (folder / name / "tscope").chmod(0o755)
    with tarfile.open(place / f"{name}.tar.gz", "w:gz") as archive:
        archive.add(folder / name, name)
    sums = subprocess.run(["sha256sum", f"{name}.tar.gz"], cwd=place, check=True, text=True, capture_output=True)
    (place / "SHA256SUMS").write_text(sums.stdout)
    return place / "SHA256SUMS"


def check_pull_request(folder, tscope, testdata):
    """The base's report is the baseline; the head is slower by 41 %, and its peak is higher."""
    project = folder / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", project], check=True)
    base = commit(project, "base", f"{testdata}/run_before")
    subprocess.run([tscope, "report", "runs/latest", "--format", "baseline", "--output", "baseline.json"],
                   cwd=project, check=True)
    subprocess.run(["git", "-C", project, "checkout", "-q", "-b", "change"], check=True)
    head = commit(project, "a slower step", f"{testdata}/run_after")
    assert base != head
    sums = make_release(folder, tscope)

    def run(name, **inputs):
        (folder / name).mkdir()
        return Job(folder / name, {"paths": "runs/latest", "options": "", "baseline": "baseline.json"} | inputs,
                   checkout=project, releases=f"file://{folder}")

    slower = run("slower", **{"change-gates": "step_time.mean_ns>+5%", "sarif": "true", "comment": "true"})
    expect(slower, 1, ["OK", "tscope 0", "::error", "step_time.mean_ns", "+40.9", "gh pr comment 7"],
           ["runs/latest", "baseline.json", "reduce_scatter"])
    sarif = json.loads(slower.file("report.sarif"))["runs"][0]
    assert sarif["results"] and all(result["message"]["text"] for result in sarif["results"])
    assert "<failure" in slower.file("diff.xml")

    allowed = run("allowed", **{"change-gates": "step_time.mean_ns>+50%"})
    expect(allowed, 0, ["::notice"], ["runs/latest"])

    sums.write_text(sums.read_text().replace(sums.read_text()[:8], "0" * 8))
    forged = run("forged")
    assert forged.has_failed and "FAILED" in forged.log and "steps.report.outputs.exit-code" not in forged.names


def main():
    tscope, testdata = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])

    def job(folder, **inputs):
        os.mkdir(folder)
        return Job(folder, {name.replace("_", "-"): value for name, value in inputs.items()}
                   | {"program": tscope})

    with tempfile.TemporaryDirectory() as temporary:
        held = job(f"{temporary}/held", paths=f"{testdata}/run_healthy\n\n", options="",
                   gates="step_time.mean_ms<1\nseverity>=high")
        expect(held, 0, ["::notice"], ["run_healthy"])
        assert json.loads(held.file("report.sarif"))["version"] == "2.1.0"
        assert "<testsuite" in held.file("report.xml") and json.loads(held.file("report.json"))

        tripped = job(f"{temporary}/tripped", paths=f"{testdata}/run_mixed", options="",
                      gates="step_time.mean_ms>0.5", baseline=f"{testdata}/run_healthy",
                      comment="true")
        expect(tripped, 1, ["::error", "step_time.mean", "gh pr comment 7"], ["run_mixed"])
        assert "run_healthy" in tripped.file("comment.txt")

        quotes = job(f"{temporary}/quotes", paths=f"{testdata}/it's; echo $HOME\n")
        expect(quotes, 3, ["it's; echo $HOME"], [])

        if all(map(shutil.which, ("git", "curl"))) and not shutil.which("tscope"):
            check_pull_request(pathlib.Path(temporary).resolve(), tscope, testdata)


if __name__ == "__main__":
    main()
