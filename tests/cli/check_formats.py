#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every format is what its readers take it for, whatever the names of an input are.

usage: check_formats.py TSCOPE TESTDATA

Reports of each command, and of a trace whose names are attacks, are read by a reader of each
format: xmllint and a schema of JUnit's XML, the demands of SARIF 2.1.0, the OpenMetrics parser of
the Prometheus client, cmark-gfm, csv. A reader that is not installed is named and left out.
TSCOPE_VALIDATORS names a folder that scripts/fetch_validators filled: Jenkins' schema of JUnit's XML,
SARIF's own schema and promtool read the reports, too.
"""
import csv
import functools
import html
import html.parser
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).parent
VALIDATORS = os.environ.get("TSCOPE_VALIDATORS")
MARKDOWN_LIMIT = 60000
SEVERITIES = {"none", "note", "warning", "error"}
# Each would do something in one of the formats.
HOSTILE = [
    "</script><img src=x onerror=alert(1)>", "::error title=x::forged", "]]></failure>", "a|b|c",
    "`code` ``` fence", "=cmd()|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1",
    "line\nfeed # EOF\n::warning::x", "esc\x1b[2J", "bidi\u202eevil", "null\u0000x", "quo\"te'",
    "back\\slash\\", "\\|", "{label=\"x\"} 1", "[link](http://x)", "http://evil.example", "www.evil.example",
    "@octocat", "#1", "**bold** _it_ ~~no~~", "<details>", "&amp;&lt;", "%0A::error::x", "##[error]x",
    "\ufffe\uffff", "1. list", "- list", "$math$", "<!-- x", "--><b>", "x" * 400 + "|", "\U000e0041tag",
    "nbsp\u00a0", "\u200bzero",
]
COMMANDS = [
    ("trace", ["two_steps.json"]), ("trace", ["two_steps.json", "cpu_only.json"]),
    ("report", ["run_before"]), ("report", ["run_sick"]), ("report", ["ranks_slow_host"]),
    ("report", ["mixed_apart"]), ("memory", ["oom.pickle"]), ("hang", ["hang_missing_call"]),
    ("diff", ["run_before", "run_after"]), ("trace", ["two_steps.json"] * 40),
]
GATES = {"diff": ["mfu<-2%", "new-finding"], "hang": ["severity>=high"],
         "memory": ["snapshot.peak_allocated_bytes>1KiB"]}
TAGS = {"h3", "p", "ul", "ol", "li", "strong", "code", "table", "thead", "tbody", "tr", "th", "td", "details",
        "summary", "b"}


class Tags(html.parser.HTMLParser):
    """The tags of a page; raises where one is not ours."""

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, f"markup of a name: <{tag} {attrs}>"
        assert all(key in ("align",) for key, _ in attrs), f"attributes of a name: {attrs}"

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")


def check_markdown(text, _):
    assert len(text) < MARKDOWN_LIMIT, f"{len(text)} characters"
    assert text.startswith("### "), "the first line is no title"
    assert text.count("<details>") == text.count("</details>") or "&lt;details" in text or "`<details>`" in text
    if shutil.which("cmark-gfm"):
        page = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough"],
                              input=text, capture_output=True, text=True, check=True).stdout
        Tags().feed(page)


def check_github(text, _):
    for line in text.splitlines():
        assert re.match(r"::(error|warning|notice) title=[^:,]*(,file=[^:,]*,line=\d+)?::", line), line
        assert line.replace("\u00a0", " ").isprintable(), repr(line)


def check_junit(text, code):
    root = xml.etree.ElementTree.fromstring(text)
    cases = root.findall("testsuite/testcase")
    failures = root.findall("testsuite/testcase/failure")
    assert int(root.get("tests")) == len(cases)
    assert int(root.get("failures")) == len(failures)
    assert all(int(suite.get("skipped")) == len(suite.findall("testcase/skipped")) for suite in root)
    assert bool(failures) == (code == 1), f"{len(failures)} failures, exit code {code}"
    for folder in [HERE] + ([VALIDATORS] if VALIDATORS else []) if shutil.which("xmllint") else []:
        done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", os.path.join(folder, "junit.xsd"), "-"],
                              input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def check_message(message):
    assert set(message) <= {"text", "markdown", "id", "arguments"} and isinstance(message["text"], str)


def check_uri(uri):
    assert re.fullmatch(r"(?:[A-Za-z0-9._~/:-]|%[0-9A-F]{2})*", uri), uri
    assert ":" not in uri.split("/")[0] or uri.startswith("file:///"), f"a scheme: {uri}"


def check_result(result, rules):
    assert set(result) <= {"ruleId", "ruleIndex", "level", "message", "locations", "properties"}
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in SEVERITIES
    check_message(result["message"])
    for location in result["locations"]:
        place = location["physicalLocation"]
        check_uri(place["artifactLocation"]["uri"])
        assert place.get("region", {"startLine": 1})["startLine"] >= 1
        for logical in location.get("logicalLocations", []):
            assert set(logical) <= {"name", "fullyQualifiedName", "kind"}


@functools.cache
def sarif_schema():
    import jsonschema  # pylint: disable=import-outside-toplevel
    with open(os.path.join(VALIDATORS, "sarif.json"), encoding="utf-8") as file:
        return jsonschema.Draft4Validator(json.load(file))


def check_sarif(text, _):
    log = json.loads(text)
    if VALIDATORS:
        wrong = [f"{list(error.absolute_path)}: {error.message}" for error in sarif_schema().iter_errors(log)]
        assert not wrong, wrong[:3]
    assert set(log) == {"$schema", "version", "runs"} and log["version"] == "2.1.0"
    for run in log["runs"]:
        assert set(run) <= {"tool", "results", "columnKind", "artifacts", "invocations"}
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        driver = run["tool"]["driver"]
        assert isinstance(driver["name"], str) and isinstance(driver["version"], str)
        rules = driver["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules), "ids of rules are not unique"
        for rule in rules:
            assert set(rule) == {"id", "shortDescription", "fullDescription", "help"}
            for key in ("shortDescription", "fullDescription", "help"):
                check_message(rule[key])
        for result in run["results"]:
            check_result(result, rules)


def is_wanted(remark):
    """Names are those of facts: "count" ends them, and "b" in one is the second input, no unit."""
    return remark.endswith('should not have "_count" suffix') or re.search("_b_.*should not contain abbreviated units", remark)


def check_openmetrics(text, _):
    if VALIDATORS:
        done = subprocess.run([os.path.join(VALIDATORS, "promtool"), "check", "metrics"], input=text,
                              capture_output=True, text=True, check=False)
        remarks = [line for line in (done.stdout + done.stderr).splitlines() if not is_wanted(line)]
        assert done.returncode in (0, 3) and not remarks, remarks[:3]
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1 + text.count("feed # EOF")
    if importlib.util.find_spec("prometheus_client"):
        from prometheus_client.openmetrics import parser  # pylint: disable=import-outside-toplevel
        families = list(parser.text_string_to_metric_families(text))
        assert len({family.name for family in families}) == len(families)


def check_csv(text, _):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert rows[0] == "input,rank,device,table,row,name,value,unit,doubt".split(",")
    for row in rows[1:]:
        assert len(row) == len(rows[0]), row
        for cell in row:
            is_number = re.fullmatch(r"-?[0-9.]+(e[-+]?\d+)?", cell)
            assert is_number or cell.lstrip(" ")[:1] not in tuple("=+-@\t\r"), f"a formula: {cell!r}"


def check_metrics(text, _):
    for line in text.splitlines():
        figure = json.loads(line)
        assert set(figure) - {"time", "commit", "low", "high", "doubt", "good"} == {"run", "fact", "value", "unit"}, line
        assert isinstance(figure["value"], (int, float)), line


def check_bmf(text, _):
    for run in json.loads(text).values():
        for measure in run.values():
            assert set(measure) in ({"value"}, {"value", "lower_value", "upper_value"}), measure


def check_benchmark(text, _):
    for entry in json.loads(text):
        assert {"name", "unit", "value"} <= set(entry) <= {"name", "unit", "value", "range"}, entry


CHECKS = {"markdown": check_markdown, "github": check_github, "junit": check_junit, "sarif": check_sarif,
          "openmetrics": check_openmetrics, "csv": check_csv, "metrics": check_metrics,
          "bmf": check_bmf, "benchmark": check_benchmark}

def attack(events, count):
    """The names of a trace become attacks, the k-th kind of place the k-th and following ones."""
    names = {}
    for event in events:
        name = event.get("name", "")
        if event.get("ph") == "X" and not name.startswith(("ProfilerStep", "cuda")):
            event["name"] = names.setdefault(name, HOSTILE[(count + len(names)) % len(HOSTILE)])
        for key in ("Call stack", "Collective name", "Process Group Name"):
            if key in event.get("args", {}):
                event["args"][key] = HOSTILE[count % len(HOSTILE)]
    return events


def hostile_inputs(testdata, folder):
    """Yields commands with inputs whose names, and names in them, are attacks."""
    trace = json.loads((testdata / "two_steps.json").read_text())
    for count in range(0, len(HOSTILE), 5):
        text = json.dumps({**trace, "traceEvents": attack(json.loads(json.dumps(trace["traceEvents"])), count)})
        name = re.sub(r"[/\0]", "_", HOSTILE[count])[:100]
        path = folder / (f"=a{name}.json" if count else "::error::x|`.json")
        path.write_text(text)
        yield "trace", [path.name]
    yield "report", [path.name]
    yield "diff", [path.name, "::error::x|`.json"]


def run(program, command, paths, name, folder):
    gates = [f"--fail-on={gate}" for gate in
             GATES.get(command, ["mfu<0.35", "severity>=high", "TIMING.DATALOADER_BOUND"])]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    environment.pop("GITHUB_STEP_SUMMARY", None)
    done = subprocess.run([program, command, *gates, "--format", name, "--", *paths], cwd=folder, check=False,
                          capture_output=True, env=environment, timeout=60)
    return done.stdout.decode(), done.returncode


def pictures(manual):
    """Format -> lines of its picture in tscope(1)."""
    section = manual.split(".Sh FORMATS\n")[1].split("\n.Sh ")[0]
    for name, text in re.findall(r"\.Cm (\w+)[^\n]*\n(?:[^.][^\n]*\n)?\.Bd -literal\n(.*?)\.Ed", section, re.DOTALL):
        yield name, text.replace(r"\(mc", "\u00b5").splitlines()


def check_picture(name, lines, text):
    """Each line stands in the format, in that order and up to its ellipsis; of a page, drawn by a script, each of its words."""
    at = 0
    for line in lines:
        if name == "html":
            missing = [word for word in re.split(r"[\[\]|=]+|  +", line.strip()) if word.strip(" .") and word.strip() not in text]
            assert not missing, f"{name}: {missing}"
            continue
        found = text.find(line.rstrip("\u2026"), at)
        assert found >= 0, f"{name}: {line}"
        at = found + 1


def check_pictures(program, testdata):
    """Problems of the manual's pictures."""
    command = [program, "trace", "--fail-on", "mfu<0.35", "slow_loader.json"]
    shown = dict(pictures((HERE.parents[1] / "man/tscope.1").read_text(encoding="utf-8")))
    if not {"html", "markdown", "github", "junit", "sarif", "openmetrics", "csv"} <= set(shown):
        yield f"tscope(1) shows only {sorted(shown)}"
    for name, lines in shown.items():
        text = subprocess.run([*command, "--format", name], cwd=testdata, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
        if name == "html":
            text = html.unescape(re.sub(r"<[^<>]*>", "", text.split("<body>")[1])) + text
        try:
            check_picture(name, lines, text)
        except AssertionError as error:
            yield f"tscope(1): {error}"


def main():
    program, testdata = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
    missing = [tool for tool in ("xmllint", "cmark-gfm") if not shutil.which(tool)]
    missing += [tool for tool in ("prometheus_client",) if not importlib.util.find_spec(tool)]
    if missing:
        print("not installed, so without it:", ", ".join(missing))
    wrong = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = [(command, [str(testdata / path) for path in paths]) for command, paths in COMMANDS]
        for command, paths in [*cases, *hostile_inputs(testdata, folder)]:
            for form, check in CHECKS.items():
                text, code = run(program, command, paths, form, folder)
                count += 1
                try:
                    check(text, code)
                except (AssertionError, ValueError, KeyError, csv.Error, xml.etree.ElementTree.ParseError) as error:
                    wrong += 1
                    print(f"{command} {paths} --format {form}: {type(error).__name__}: {str(error)[:400]}")
    for problem in check_pictures(program, testdata):
        wrong += 1
        print(problem)
    print(f"{count} reports read, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
