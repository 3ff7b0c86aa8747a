#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What no compiler checks: no paths of somebody's machine, licence and size of each source file,
length of lines.

usage: check_text.py SOURCE_ROOT
"""
import pathlib
import shutil
import subprocess
import sys

MACHINE_PATHS = ["/" + name + "/" for name in ("work", "root", "farm")]
MOST_LINES, MOST_COLUMNS = 600, 100
SKIPPED_FOLDERS = (".git", "build", "__pycache__", "corpus")


def problems_of_source(path, lines):
    """path: of a .c or .h file, relative to the root."""
    if not lines or "SPDX-License-Identifier: MIT" not in lines[0]:
        yield 1, "begin with /* SPDX-License-Identifier: MIT */"
    if path.parts[0] == "tests":
        return  # tables of cases are as long and wide as they need to be
    if len(lines) > MOST_LINES:
        yield len(lines), f"more than {MOST_LINES} lines: split it by what the parts do"
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(8)) > MOST_COLUMNS:
            yield number, f"more than {MOST_COLUMNS} columns: break the line"


def problems_of(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for machine_path in MACHINE_PATHS:
            if machine_path in line:
                yield number, f"{machine_path} is a path of one machine: leave it out"
    if path.suffix in (".c", ".h"):
        yield from problems_of_source(path, text.splitlines())


def files_of(root):
    """Paths relative to the root: what git tracks or, in a release without git, all there is."""
    if (root / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=False,
                                capture_output=True).stdout.decode()
        if listed:
            return [pathlib.Path(name) for name in listed.split("\0") if name]
    return [file.relative_to(root) for file in root.rglob("*")]


def main():
    root = pathlib.Path(sys.argv[1])
    failed = 0
    for path in sorted(files_of(root)):
        file = root / path
        if any(part.startswith(SKIPPED_FOLDERS) for part in path.parent.parts) or not file.is_file():
            continue
        for number, problem in problems_of(path, file.read_bytes().decode(errors="replace")):
            print(f"{path}:{number}: {problem}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
