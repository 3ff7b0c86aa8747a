#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One rank of a small job of gloo that hangs in its last step, and what PyTorch's flight recorder has
of it, as pickle and JSON. Needs a PyTorch whose recorder knows gloo.

usage: record_flight.py SCENARIO FOLDER RANK PORT    SCENARIO: clean, skip, sleep, size or message
"""
import datetime
import os
import pathlib
import sys
import threading
import time

WORLD, STEPS, AGAIN_S, HANG_S = 4, 5, 0.3, 5
SCENARIO, FOLDER, RANK = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[4], TORCH_FR_BUFFER_SIZE="2000",
                  GLOO_SOCKET_IFNAME="lo", USE_LIBUV="0", OMP_NUM_THREADS="1")

import torch  # noqa: E402: the environment comes first
import torch.distributed as dist  # noqa: E402
from torch._C import _distributed_c10d as c10d  # noqa: E402


last_step_s = []  # when the last step began


def put(path, data):
    """A process may die at any time: the file is whole or not there."""
    part = path.with_suffix(".part")
    part.write_bytes(data if isinstance(data, bytes) else data.encode())
    part.rename(path)


def dump():
    put(FOLDER / "pickle" / f"nccl_trace_rank_{RANK}", c10d._dump_fr_trace(True, True, False))
    put(FOLDER / "json" / f"rank_{RANK}.json", c10d._dump_fr_trace_json(True, False))


def dump_again():
    """Says so once what it writes is of a job that has stood still for a while."""
    while True:
        has_hung = last_step_s and time.monotonic() - last_step_s[0] > HANG_S
        dump()
        if has_hung:
            (FOLDER / f"hung_{RANK}").touch()
        time.sleep(AGAIN_S)


def step(half, is_last):
    dist.all_reduce(torch.ones(1024))
    dist.broadcast(torch.ones(16), 0)
    if RANK < 2 and not (SCENARIO == "message" and is_last and RANK == 0):
        (dist.recv if RANK else dist.send)(torch.ones(8), 1 - RANK)
    if SCENARIO == "sleep" and is_last and RANK == 3:
        time.sleep(1000)
    if SCENARIO == "skip" and is_last and RANK == 2:
        return
    is_wrong = SCENARIO == "size" and is_last
    if is_wrong and RANK != 1:
        time.sleep(HANG_S)
    size = 50 if is_wrong and RANK == 1 else 100
    work = dist.all_gather([torch.zeros(size) for _ in range(WORLD)], torch.ones(size),
                           async_op=True)
    if is_wrong:  # gloo ends the process of rank 1 once others come
        dump()
        (FOLDER / f"hung_{RANK}").touch()
        time.sleep(1000)
    work.wait()
    dist.all_reduce(torch.ones(64), group=half)


def main():
    dist.init_process_group("gloo", rank=RANK, world_size=WORLD,
                            timeout=datetime.timedelta(seconds=300))
    halves = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    if SCENARIO != "size":  # whose calls are over as soon as a process dies
        threading.Thread(target=dump_again, daemon=True).start()
    for i in range(STEPS):
        if i == STEPS - 1:
            last_step_s.append(time.monotonic())
        try:
            step(halves[RANK // 2], i == STEPS - 1)
        except RuntimeError as error:  # others died
            print(error)
    time.sleep(1000)


main()
