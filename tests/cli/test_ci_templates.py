#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executes what packaging/ has for other CI servers as these do: the scripts of the jobs for GitLab
and Jenkins, whose results must be JUnit, and the hook for git, on a push.

usage: test_ci_templates.py TSCOPE TESTDATA
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"


def gitlab_script():
    try:
        import yaml
    except ImportError:
        return None
    job = yaml.safe_load((PACKAGING / "gitlab-ci.yml").read_text())["performance"]
    assert job["artifacts"]["reports"]["junit"] == "gates.xml" and "report.md" in job["artifacts"]["paths"]
    return "\n".join(job["script"])


def jenkins_script():
    text = (PACKAGING / "Jenkinsfile").read_text()
    assert text.count("{") == text.count("}") and "junit 'gates.xml'" in text
    return re.search("sh '''(.*?)'''", text, re.S)[1]


def check_job(script, run, code, failed, env):
    """Its exit code, and the gates that the file for the server calls failed."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["sh", "-xe", "-c", script], cwd=folder, env={**env, "RUN": run},
                              text=True, capture_output=True)
        assert done.returncode == code, (done.returncode, done.stderr)
        cases = [case for case in xml.parse(f"{folder}/gates.xml").getroot().iter("testcase")
                 if case.get("classname") == "tscope.gate"]
        assert [case.get("name") for case in cases] == ["mfu<35%", "straggler"]
        assert [case.get("name") for case in cases if case.find("failure") is not None] == failed
        assert pathlib.Path(run).name in pathlib.Path(folder, "report.md").read_text()


def check_hook(testdata, env):
    with tempfile.TemporaryDirectory() as folder:
        def git(*words, may_fail=False):
            done = subprocess.run(["git", "-c", "user.name=me", "-c", "user.email=me@here.invalid", *words],
                                  cwd=f"{folder}/mine", env=env, text=True, capture_output=True)
            assert may_fail or done.returncode == 0, done.stderr
            return done

        os.mkdir(f"{folder}/mine")
        git("init", "-q", "--bare", "../origin")
        git("init", "-q", "-b", "main")
        git("remote", "add", "origin", "../origin")
        git("commit", "-q", "--allow-empty", "-m", "first")
        shutil.copy(PACKAGING / "pre-push", f"{folder}/mine/.git/hooks/pre-push")
        git("push", "-q", "origin", "main")  # nothing is asked of it

        git("commit", "-q", "--allow-empty", "-m", "second")
        git("config", "tscope.run", f"{testdata}/run_healthy")
        git("config", "--add", "tscope.gate", "step_time.mean_ms<1")
        git("config", "--add", "tscope.gate", "step_time.mean_ms>0.5")
        refused = git("push", "-q", "origin", "main", may_fail=True)
        assert refused.returncode != 0 and "step_time.mean_ms>0.5" in refused.stdout + refused.stderr, refused
        git("config", "--unset", "tscope.gate", "step_time.mean_ms>0.5")
        git("push", "-q", "origin", "main")

        git("commit", "-q", "--allow-empty", "-m", "third")
        git("config", "--unset-all", "tscope.gate")
        git("config", "tscope.run", f"{testdata}/run_after")
        git("config", "tscope.baseline", f"{testdata}/run_before")
        git("config", "tscope.changeGate", "step_time.mean_ns>+1%")
        assert git("push", "-q", "origin", "main", may_fail=True).returncode != 0
        git("config", "tscope.changeGate", "step_time.mean_ns>+100000%")
        git("push", "-q", "origin", "main")


def main():
    tscope, testdata = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(tscope, f"{folder}/tscope")
        env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": "/dev/null"}
        for script in filter(None, (jenkins_script(), gitlab_script())):
            check_job(script, f"{testdata}/run_healthy", 0, [], env)
            check_job(script, f"{testdata}/run_sick", 3, ["mfu<35%", "straggler"], env)  # a rank is missing, too
        if shutil.which("git"):
            check_hook(testdata, env)


if __name__ == "__main__":
    main()
