#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `meson install` puts down is enough for a user: each header compiles on its own, and the
examples in C, built through pkg-config, and in Python say of a trace what tscope says.

usage: check_install.py SOURCE_ROOT BUILD_ROOT MESON CC...
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PYTHON = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import tscope
run = tscope.Run(sys.argv[2])
assert run.facts["step_time.mean_ns"] == 2500000, run.facts["step_time.mean_ns"]
assert run.findings[0]["id"] == "TIMING.DATALOADER_BOUND" and run.findings[0]["gain_ns"] == 800000
assert sum(row["total_ns"] for row in run.table("kernels.by_name")) > 0
try:
    tscope.Run(sys.argv[2] + ".missing")
    sys.exit("no error for a missing file")
except OSError as error:
    assert "missing" in str(error), error
"""


def main():
    source, build, meson = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
    compiler = sys.argv[4:] + ["-std=c11", "-Werror"]
    trace = source / "testdata" / "slow_loader.json"
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
        subprocess.run([*compiler, source / "examples" / "where_time_goes.c", "-o", root / "user",
                        *flags], check=True)
        found = subprocess.run([root / "user", trace], env=env, text=True, stdout=subprocess.PIPE)
        if found.returncode != 1 or "the data loader" not in found.stdout:
            sys.exit(f"where_time_goes: {found.stdout}(exit {found.returncode})")
        library, = root.rglob("libtscope.so.0")
        subprocess.run([sys.executable, "-c", PYTHON, source / "examples", trace],
                       env={**env, "TSCOPE_LIBRARY": str(library)}, check=True)


if __name__ == "__main__":
    main()
