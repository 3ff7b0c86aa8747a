#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `meson install` puts down is enough for a user: each header compiles on its own, and a
program built through pkg-config runs.

usage: check_install.py BUILD_ROOT MESON CC...
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
#include <stdio.h>
#include <tscope/tscope.h>

int main(void)
{
	return puts(tscope_version()) < 0;
}
"""


def main():
    build, meson, compiler = sys.argv[1], sys.argv[2], sys.argv[3:] + ["-std=c11", "-Werror"]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run([meson, "install", "-C", build, "--destdir", folder, "--no-rebuild",
                        "--quiet"], check=True)
        package, = root.rglob("tscope.pc")
        env = {**os.environ, "PKG_CONFIG_PATH": str(package.parent),
               "LD_LIBRARY_PATH": str(package.parent.parent)}
        prefix = folder + package.read_text().splitlines()[0].removeprefix("prefix=")
        flags = subprocess.run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags",
                                "--libs", "tscope"], env=env, check=True, text=True,
                               capture_output=True).stdout.split()
        includes = [flag for flag in flags if flag.startswith("-I")]
        for header in sorted(root.rglob("include/tscope/*.h")):
            if not header.name.endswith("_list.h"):
                subprocess.run([*compiler, *includes, "-fsyntax-only", "-x", "c", header],
                               check=True)
        (root / "user.c").write_text(PROGRAM)
        subprocess.run([*compiler, root / "user.c", "-o", root / "user", *flags], check=True)
        subprocess.run([root / "user"], env=env, check=True)


if __name__ == "__main__":
    main()
