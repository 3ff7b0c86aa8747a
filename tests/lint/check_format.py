#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sources look as .clang-format says. Skipped without clang-format 14: other versions differ in
details.

usage: check_format.py SOURCE_ROOT
"""
import pathlib
import shutil
import subprocess
import sys

SKIP = 77
VERSION = "14"


def find_tool():
    """clang-format of our version, or None."""
    for name in ("clang-format-" + VERSION, "clang-format"):
        path = shutil.which(name)
        if path and f"version {VERSION}." in subprocess.run(
                [path, "--version"], text=True, capture_output=True, check=True).stdout:
            return path
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    tool = find_tool()
    if not tool:
        print(f"no clang-format {VERSION} here")
        return SKIP
    files = [str(path.relative_to(root)) for folder in ("include", "src", "tests")
             for path in sorted((root / folder).rglob("*.[ch]"))]
    result = subprocess.run([tool, "--dry-run", "-Werror", *files], cwd=root, check=False)
    if result.returncode:
        print(f"run: {pathlib.Path(tool).name} -i on the files named above")
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
