#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Maps the files of a run in tasks of Ray, and reports them.

usage: python3 map_ray.py TRACES OUT TASKS [OPTION of tscope report]...

TRACES and OUT are folders that all nodes see. Exits as tscope report --strict does: 1 where a gate
trips, 3 where ranks are missing.
"""
import subprocess
import sys

import ray


@ray.remote(num_cpus=1, max_retries=2)
def map_shard(traces, out, index, count):
    """A task that is tried again does what is left. Damaged files (3) are the report's to name."""
    done = subprocess.run(["tscope", "map", "--quiet", "--threads", "1", "--shard",
                           f"{index}/{count}", "--out", out, traces], check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"tscope map --shard {index}/{count}: exit code {done.returncode}")


def main():
    traces, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    ray.init()
    ray.get([map_shard.remote(traces, out, index, count) for index in range(count)])
    sys.exit(subprocess.run(["tscope", "report", "--strict", *sys.argv[4:], out],
                            check=False).returncode)


if __name__ == "__main__":
    main()
