#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tscope hang on dumps of 1,024 ranks with 2,000 entries each and stacks of 30 frames.

usage: hang.py TSCOPE [RANKS [ENTRIES]]

Fails above 5 s of processor time or 2 GB of resident memory. The ranks' files are links to two dumps,
so what is measured is reading, not the disk.
"""
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time

MOST_S, MOST_BYTES = 5.0, 2e9
NAMES = ["all_reduce", "_all_gather_base", "_reduce_scatter_base", "all_to_all"]


def dump(ranks, entries):
    """As the recorder pickles it: frames are shared, lists of them are not."""
    frames = [{"name": f"function_{i}", "filename": f"/opt/conda/lib/python3.11/module_{i % 90}.py",
               "line": i} for i in range(300)]
    calls = []
    for k in range(entries):
        sizes = [[4096, 64 * (k % 7 + 1)]]
        calls.append({
            "frames": [frames[(k * 7 + i * 3) % len(frames)] for i in range(30)],
            "record_id": 50000 + k, "pg_id": k % 2, "process_group": (str(k % 2), "world"),
            "collective_seq_id": 25000 + k // 2, "p2p_seq_id": 0, "op_id": 50000 + k,
            "profiling_name": "nccl:" + NAMES[k % 4], "time_created_ns": 10**18 + k * 10**6,
            "input_sizes": sizes, "input_dtypes": ["BFloat16"], "output_sizes": sizes,
            "output_dtypes": ["BFloat16"], "state": "completed" if k < entries - 1 else "started",
            "time_discovered_started_ns": 10**18 + k * 10**6 + 1000,
            "time_discovered_completed_ns": 10**18 + k * 10**6 + 9000 if k < entries - 1 else None,
            "retired": k < entries - 1, "timeout_ms": 600000, "is_p2p": False})
    config = {str(i): {"name": str(i), "desc": "world", "ranks": str(list(range(ranks)))}
              for i in range(2)}
    return {"version": "2.9", "pg_config": config, "entries": calls}


def main():
    tscope = sys.argv[1]
    ranks, entries = (int(a) for a in (sys.argv[2:] + ["1024", "2000"][len(sys.argv) - 2:]))
    whole = dump(ranks, entries)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "nccl_trace_rank_0")
        with open(path, "wb") as out:
            pickle.dump(whole, out, protocol=2)
        size = os.path.getsize(path)
        whole["entries"].pop()
        with open(os.path.join(folder, "nccl_trace_rank_6"), "wb") as out:
            pickle.dump(whole, out, protocol=2)
        for rank in range(1, ranks):
            if rank != 6:
                os.link(path, os.path.join(folder, f"nccl_trace_rank_{rank}"))
        start = time.monotonic()
        done = subprocess.run([tscope, "hang", folder], capture_output=True)
        wall = time.monotonic() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * 1024
    print(*done.stdout.decode().splitlines()[3:6], sep="\n")
    print(f"{ranks} ranks x {entries} entries, {size / 1e6:.2f} MB each: {wall:.2f} s wall, "
          f"{used.ru_utime + used.ru_stime:.2f} s CPU, {peak / 1e9:.2f} GB")
    right = done.returncode == 1 and b"rank 6" in done.stdout
    quick = used.ru_utime + used.ru_stime < MOST_S
    return 0 if right and quick and peak < MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
