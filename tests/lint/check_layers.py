#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each folder of src/ includes only folders that lie before it on the data's path.

usage: check_layers.py SOURCE_ROOT
"""
import pathlib
import re
import sys

# The path, lowest first. A folder may include those before it, and itself.
LAYERS = ["base", "device", "input", "decode", "model", "timeline", "run", "comm", "hang", "analyze",
          "rules", "diff", "gate", "report",
          "session", "version.c", "cli"]
GENERATED = {"config.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def layer_of(path):
    """'input/filter.h' -> 'input'; 'version.c' -> itself; unknown -> None."""
    name = path.parts[0] if len(path.parts) > 1 else path.stem + ".c"
    return name if name in LAYERS else None


def complaint(source, path, included):
    """What is wrong with one quoted include, or None."""
    own = layer_of(path)
    if own == "cli":
        if not (source / "cli" / included).is_file():
            return "the program may use <tscope/...> and headers of its own folder only"
        return None
    if included in GENERATED:
        return None
    if not (source / included).is_file():
        return 'write the path from src/, as in "base/error.h"'
    target = layer_of(pathlib.PurePath(included))
    if target is None or LAYERS.index(target) > LAYERS.index(own):
        return f"{own} comes before {target} on the data's path: move what both need down"
    return None


def main():
    source = pathlib.Path(sys.argv[1]) / "src"
    failed = 0
    for file in sorted(p for p in source.rglob("*") if p.suffix in (".c", ".h")):
        path = file.relative_to(source)
        if layer_of(path) is None:
            print(f"src/{path}: in no known layer; add its folder to LAYERS in {sys.argv[0]}")
            failed += 1
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            problem = match and complaint(source, path, match.group(1))
            if problem:
                print(f'src/{path}:{number}: includes "{match.group(1)}": {problem}')
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
