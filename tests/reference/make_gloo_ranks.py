#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records traces of a real job: processes that train a small model together with gloo, of which one
sleeps between forward and backward. Needs PyTorch (Debian: python3-torch), without a GPU.

usage: make_gloo_ranks.py FOLDER [--ranks N] [--steps N] [--slow-rank R] [--slow-ms MS] (--help)

Writes FOLDER/rank<r>.pt.trace.json, and FOLDER/truth: the options, by rank the ns of each step as
time.perf_counter_ns() has them, how much shorter the steps in which nobody sleeps make the mean
step, and the standard error of that. Many processes on few cores are real noise: threads wake up, and write the ends of
collectives, late by up to many ms. The model is small, so that cores are idle while one sleeps.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

WARM_UP = 2


def model_of(options):
    width = options.width
    layers = [layer for _ in range(options.layers)
              for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 16))


def sleeps_in(options, step):
    return step >= 0 and (step + 1) % options.rest != 0


def train(rank, options, profiler):
    """Steps with their lengths in ns."""
    torch.manual_seed(options.seed)
    ddp = DistributedDataParallel(model_of(options), bucket_cap_mb=options.bucket_mb)
    optimizer = torch.optim.AdamW(ddp.parameters())
    lengths = []
    for step in range(WARM_UP + options.steps):
        begin = time.perf_counter_ns()
        loss = ddp(torch.randn(options.batch, options.width)).square().mean()
        if rank == options.slow_rank and sleeps_in(options, step - WARM_UP):
            time.sleep(options.slow_ms / 1000)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        lengths.append(time.perf_counter_ns() - begin)
        profiler.step()
    return lengths[WARM_UP:]


def run_rank(rank, folder, options):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=options.ranks,
                            init_method=f"file://{folder}/store")
    activities = [ProfilerActivity.CPU]
    plan = schedule(wait=1, warmup=WARM_UP - 1, active=options.steps, repeat=1)
    write = lambda it: it.export_chrome_trace(f"{folder}/rank{rank}.pt.trace.json")
    with profile(activities=activities, schedule=plan, on_trace_ready=write) as profiler:
        lengths = train(rank, options, profiler)
    (folder / f"lengths{rank}").write_text(json.dumps(lengths))
    dist.barrier()


def options_of():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("folder", type=pathlib.Path)
    add("--ranks", type=int, default=8)
    add("--steps", type=int, default=16)
    add("--slow-rank", type=int, default=-1, help="-1: none")
    add("--slow-ms", type=float, default=50)
    add("--rest", type=int, default=3, help="it does not sleep in one of so many steps")
    add("--layers", type=int, default=3)
    add("--width", type=int, default=32)
    add("--batch", type=int, default=4)
    add("--bucket-mb", type=float, default=0.005)
    add("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options = options_of()
    folder = options.folder.resolve()
    folder.mkdir(parents=True)
    children = []
    for rank in range(options.ranks):
        child = os.fork()
        if child == 0:
            run_rank(rank, folder, options)
            sys.stdout.flush()
            os._exit(0)
        children.append(child)
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    if failed:
        sys.exit(f"{failed} ranks failed")
    lengths = []
    for rank in range(options.ranks):
        path = folder / f"lengths{rank}"
        lengths.append(json.loads(path.read_text()))
        path.unlink()
    (folder / "store").unlink(missing_ok=True)
    steps = [statistics.fmean(each) for each in zip(*lengths)]
    awake = [length for step, length in enumerate(steps) if not sleeps_in(options, step)]
    asleep = [length for step, length in enumerate(steps) if sleeps_in(options, step)]
    options.folder = str(folder)
    (folder / "truth").write_text(json.dumps({
        "options": vars(options), "step_ns": lengths,
        "exposed_ns": statistics.fmean(steps) - statistics.fmean(awake),
        "exposed_error_ns": len(asleep) / len(steps) * math.sqrt(
            statistics.variance(awake) / len(awake) + statistics.variance(asleep) / len(asleep))}))


if __name__ == "__main__":
    main()
