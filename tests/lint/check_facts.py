#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man/tscope-json.5 lists every fact and column with its unit and meaning, as the analyzers define
them and in their order.

usage: check_facts.py [--update] SOURCE_ROOT LIST_FACTS
--update writes the entries into the manual. What the page says of an analyzer or a table above its
list stays; of a new one it is the definition's own line.
"""
import difflib
import pathlib
import re
import subprocess
import sys

# How the page, which is ASCII, writes what the definitions hold.
ESCAPES = {"--": "\\-\\-", "÷": "\\(di", "×": "\\(mu", "µ": "\\(mc", "−": "\\(mi"}
ENTRIES = re.compile(r"(?<=^\.Sh FACTS\n)(.*?)(?=^\.Sh )", re.MULTILINE | re.DOTALL)
LIST = '.Bl -column "algorithm_bytes_per_second" "bytes/s" "meaning" -compact'


def texts_of(lines):
    """What stands above the list of each analyzer and table: {(analyzer, table): [lines]}."""
    texts, analyzer, key = {}, None, None
    for line in lines:
        if line.startswith((".Ss ", ".Sy ")):
            name = line[4:].removesuffix(" :")
            analyzer, key = (name, (name, "")) if line[1:3] == "Ss" else (analyzer, (analyzer, name))
            texts[key] = []
        elif line == ".Pp" or line.startswith((".Bl ", '.\\"')):
            key = None
        elif key:
            texts[key].append(line)
    return texts


def escaped(line):
    for character, escape in ESCAPES.items():
        line = line.replace(character, escape)
    return line


def sentence(text):
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


def entries(printed, texts):
    """The lines of the page, from what list_facts printed and the texts that the page has."""
    analyzer, is_open = None, False
    for line in printed:
        macro, _, rest = line.partition(" ")
        if is_open and macro in (".Ss", ".Sy"):
            yield ".El"
            is_open = False
        if macro == ".Ss":
            analyzer, key = rest, (rest, "")
            yield line
        elif macro == ".Sy":
            key = analyzer, rest.removesuffix(" :")
            yield from (".Pp", line)
        elif macro == ".It":
            if not is_open:
                yield from ((LIST,) if key[1] else (".Pp", LIST))
            is_open = True
            yield escaped(line)
        elif not macro.startswith("."):
            yield from texts.get(key) or [escaped(line if key[1] else sentence(line))]
    yield ".El"


def main():
    update = "--update" in sys.argv
    root, list_facts = [argument for argument in sys.argv[1:] if argument != "--update"]
    path = pathlib.Path(root) / "man/tscope-json.5"
    page = path.read_text(encoding="utf-8")
    printed = subprocess.run([list_facts], check=True, text=True, encoding="utf-8",
                             capture_output=True).stdout.splitlines()
    written = ENTRIES.search(page).group(1)
    head = written[:written.index("\n.Ss ") + 1]
    lines = written[len(head):].splitlines()
    defined = list(entries(printed, texts_of(lines)))
    if update:
        defined = head + "".join(line + "\n" for line in defined)
        path.write_text(ENTRIES.sub(lambda _: defined, page), encoding="utf-8")
        return 0
    difference = list(difflib.unified_diff(lines, defined, "man/tscope-json.5", "as defined",
                                           lineterm="", n=1))
    print("\n".join(difference))
    if difference:
        print("rewrite it: check_facts.py --update SOURCE_ROOT LIST_FACTS")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
