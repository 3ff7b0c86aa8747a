#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each rule has its cases in the unit tests, its entry in man/tscope-rules.7 as it is defined, and a
line of `tscope rules`; each fact and table that a rule names exists.

usage: check_rules.py [--update] SOURCE_ROOT LIST_RULES LIST_FACTS [PROGRAM]
--update writes the entries into the manual.
"""
import difflib
import json
import pathlib
import re
import subprocess
import sys
import textwrap

ESCAPES = {"\\": "\\e", "÷": "\\(di", "×": "\\(mu", "µ": "\\(mc", "--": "\\-\\-"}
SECTION = re.compile(r"(?<=^\.Sh RULES\n)(.*?)(?=^\.Sh )", re.MULTILINE | re.DOTALL)
CASE = re.compile(r'\{\s*"([A-Z_.]+)",\s*([A-Z]+),')
NAME_IN_SOURCE = re.compile(r'"([a-z_]+\.[a-z0-9_.]+)"')


def output_of(*command):
    return subprocess.run(command, check=True, text=True, encoding="utf-8",
                          capture_output=True).stdout


def rules_of(listing):
    """A list of {field: [values]}; parameters are (name, value, meaning)."""
    rules = []
    for line in listing.splitlines():
        field, *values = line.split("\t")
        if field == "id":
            rules.append({})
        rules[-1].setdefault(field, []).append(values if len(values) > 1 else values[0])
    return rules


def paragraph(text):
    """Lines for mdoc: a sentence begins a line, as the other pages have it."""
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    text = text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
    return [re.sub(r"^(?=[.'])", r"\\&", line)
            for sentence in re.split(r"(?<=[.;:]) (?=[A-Z])", text)
            for line in textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)]


def entry(rule):
    lines = [f".Ss {rule['id'][0]}", *paragraph(rule["summary"][0]), '.Bl -tag -width "what to do"',
             ".It when", *paragraph(rule["when"][0])]
    if "parameter" in rule:
        lines += [".It parameters", '.Bl -tag -width "threshold = 0.25" -compact']
        for name, value, meaning in rule["parameter"]:
            lines += [f".It Cm {name} No = {value}", *paragraph(meaning)]
        lines += [".El"]
    for field in ("why", "what to do", "serving", "inference", "example"):
        if field in rule:
            lines += [f".It {field}", *paragraph(rule[field][0])]
    facts = rule.get("fact", [])
    if facts:
        lines += [".It needs", *(f".Em {fact} ," for fact in facts[:-1]), f".Em {facts[-1]}"]
    return lines + [".El"]


def check_page(page, rules, update):
    text = page.read_text(encoding="utf-8")
    defined = "".join(line + "\n" for rule in rules for line in entry(rule))
    written = SECTION.search(text).group(1)
    if update:
        page.write_text(SECTION.sub(lambda _: defined, text), encoding="utf-8")
    elif written != defined:
        yield from difflib.unified_diff(written.splitlines(), defined.splitlines(),
                                        "man/tscope-rules.7", "as defined", lineterm="", n=1)
        yield "run this with --update and read what changed"


def check_tests(root, rules):
    cases = {case for test in root.glob("tests/unit/test_rules_*.c")
             for case in CASE.findall(test.read_text(encoding="utf-8"))}
    for rule in rules:
        for kind in ("FIRES", "QUIET") + (("AT",) if "parameter" in rule else ()):
            if (rule["id"][0], kind) not in cases:
                yield f"add a case {rule['id'][0]}, {kind} to tests/unit/test_rules_*.c"


def check_names(root, listing):
    known, analyzer = set(), None
    for kind, name in re.findall(r"^(\.Ss|\.Sy|\.It) (\S+)", listing, re.MULTILINE):
        analyzer = name if kind == ".Ss" else analyzer
        known.add(f"{analyzer}.{name}")
    for source in sorted(root.glob("src/rules/*.c")):
        for name in NAME_IN_SOURCE.findall(source.read_text(encoding="utf-8")):
            if name not in known and not name.endswith((".h", ".json")):
                yield f"{source.relative_to(root)}: no analyzer defines {name}"


def check_causes(root):
    """The closed list of causes is the manual's and the schema's, too."""
    causes = re.findall(r"^CAUSE\((\w+),", (root / "src/rules/cause_list.h").read_text(),
                        re.MULTILINE)
    page = (root / "man/tscope-rules.7").read_text(encoding="utf-8")
    if re.findall(r"^\.Cm (\w+) [,.]$", page.split(".Ss Causes")[1].split(".Ss")[0],
                  re.MULTILINE) != causes:
        yield "man/tscope-rules.7: list under 'Causes' what src/rules/cause_list.h has"
    schema = json.loads((root / "schema/tscope-report.schema.json").read_text(encoding="utf-8"))
    if schema["$defs"]["cause"]["enum"] != causes:
        yield "schema: list under $defs/cause what src/rules/cause_list.h has"


def main():
    update = "--update" in sys.argv
    root, list_rules, list_facts, *program = [a for a in sys.argv[1:] if a != "--update"]
    root, rules = pathlib.Path(root), rules_of(output_of(list_rules))
    todos = [*check_page(root / "man/tscope-rules.7", rules, update), *check_tests(root, rules),
             *check_names(root, output_of(list_facts)), *check_causes(root)]
    if program:
        listed = output_of(program[0], "rules")
        todos += [f"tscope rules does not list {rule['id'][0]}"
                  for rule in rules if rule["id"][0] not in listed]
    print("\n".join(todos))
    return 1 if todos else 0


if __name__ == "__main__":
    sys.exit(main())
