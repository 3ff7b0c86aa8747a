#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man/tscope-json.5 lists every fact and column with its unit and meaning, as the analyzers define
them and in their order.

usage: check_facts.py SOURCE_ROOT LIST_FACTS
"""
import difflib
import pathlib
import re
import subprocess
import sys

# How the page, which is ASCII, writes what the definitions hold.
ESCAPES = {"÷": "\\(di", "×": "\\(mu", "µ": "\\(mc", "−": "\\(mi"}


def documented(page):
    section = re.search(r"^\.Sh FACTS$(.*?)^\.Sh ", page, re.MULTILINE | re.DOTALL).group(1)
    return listed(section.replace("\\-", "-").splitlines())


def escaped(text):
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return text


def listed(lines):
    return [line for line in lines if line.startswith((".Ss", ".Sy", ".It"))]


def main():
    page = pathlib.Path(sys.argv[1]) / "man/tscope-json.5"
    printed = subprocess.run([sys.argv[2]], check=True, text=True, encoding="utf-8",
                             capture_output=True).stdout
    defined = listed(escaped(printed).splitlines())
    difference = list(difflib.unified_diff(documented(page.read_text(encoding="utf-8")), defined,
                                           "man/tscope-json.5", "as defined", lineterm="", n=1))
    print("\n".join(difference))
    if difference:
        print("put the lines with + into the section FACTS and take out those with -")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
