#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each line of a *_list.h, such as FORMAT(chrome), has all that belongs to it: its file, that file's
row in meson.build, and where its kind asks for them a unit test and an entry in a man page.

usage: check_lists.py SOURCE_ROOT
"""
import pathlib
import re
import sys

# What NAME(x) demands: its file, its unit test, the man page that names it ("": nothing).
KINDS = {
    "ANALYZER": ("analyze_{}.c", "analyze_{}", "tscope-json.5"),
    "DIFF_ANALYZER": ("diff_{}.c", "diff_{}", "tscope-json.5"),
    "CAUSE": ("", "", "tscope-rules.7"),
    "COMMAND": ("cmd_{}.c", "", "tscope.1"),
    "DIAGNOSTIC": ("", "", "tscope-json.5"),
    "FILTER": ("filter_{}.c", "", "tscope.1"),
    "FORMAT": ("format_{}.c", "", ""),
    "METRIC_SOURCE": ("metrics_{}.c", "metrics_{}", "tscope-report.1"),
    "PLAIN_READER": ("plain_{}.c", "plain_{}", "tscope-memory.1"),
    "REPORTER": ("report_{}.c", "", "tscope.1"),
    "RULE": ("rule_{}.c", "", ""),  # check_rules.py asks for the rest
    "STORE": ("store_{}.c", "store_{}", "tscope-report.1"),
}
LINE = re.compile(r"^([A-Z_]+)\((\w+)[,)]", re.MULTILINE)


def names_file(build_file, name):
    return build_file.is_file() and f"'{name}'" in build_file.read_text()


def missing(root, folder, kind, name):
    """Yields what is to be done for one line of a list in folder."""
    if kind not in KINDS:
        yield f"say in KINDS of {sys.argv[0]} what {kind}() demands"
        return
    source, test, page = KINDS[kind]
    source = source.format(name)
    files = sorted(root.glob(f"src/**/{source}")) if source else []
    if source and not files:
        yield f"write {folder}/{source}, or in one of its rooms"
    for file in files:
        if not names_file(file.parent / "meson.build", file.name):
            yield f"add '{file.name}' to {file.parent}/meson.build"
    test, tests = test.format(name), root / "tests/unit"
    if test and not (tests / f"test_{test}.c").is_file():
        yield f"write {tests}/test_{test}.c"
    if test and not names_file(tests / "meson.build", test):
        yield f"add '{test}' to the list in {tests}/meson.build"
    page = page and root / "man" / page
    if page and not (page.is_file() and re.search(rf"\b{name}\b", page.read_text())):
        yield f"describe it in man/{page.name}"


def main():
    root = pathlib.Path(sys.argv[1])
    lists = sorted([*root.glob("src/**/*_list.h"), *root.glob("include/tscope/*_list.h")])
    todos = [f"{path.relative_to(root)}: {kind}({name}): {todo}"
             for path in lists for kind, name in LINE.findall(path.read_text())
             for todo in missing(root, path.parent, kind, name)]
    print("\n".join(todos))
    return 1 if todos else 0


if __name__ == "__main__":
    sys.exit(main())
