#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `tscope trace` on made traces of a device alone, whose kernels are those of random models, and
compares the repeated blocks that it finds with the model's layers: how many, of how many kernels, in
how many passes, and which layer takes longer, by which kernel. Where there are too few layers, or
none that are alike, nothing may be found.

usage: compare_blocks.py TSCOPE [ROUNDS [FIRST_SEED]]
"""
import json
import random
import subprocess
import sys

import seeds

LEAST = 4  # layers in a row that are alike
ATTENTION, EMBEDDING, SAMPLING = "flash_fwd_kernel", "embedding_kernel", "topk_topp_sampling_kernel"
SMALL = ["rms_norm_kernel", "act_and_mul_kernel", "rotary_embedding", "vectorized_elementwise_kernel"]
GEMMS = [f"ampere_bf16_gemm_{m}x{n}" for m in (64, 128, 256) for n in (64, 128, 256)]


class Model:
    """Layers of these kernels; its times in ns are those of a pass without noise."""

    def __init__(self, rng):
        self.rng = rng
        self.count = rng.choice([0, 1, 2, 3, 4, 5, 7, 12, 24, 40])
        products = rng.sample(GEMMS, 4)
        body = [rng.choice(SMALL + products[:3]) for _ in range(rng.randint(2, 14))]
        if rng.random() < 0.3:  # experts, which repeat within the layer
            body += [products[3], "act_and_mul_kernel", "rms_norm_kernel"] * rng.randint(4, 8)
        layer = ["rms_norm_kernel", *products[:1], ATTENTION, *body, "residual_add_kernel"]
        self.layers = [list(layer) for _ in range(self.count)]
        times = [rng.randint(5_000, 90_000) for _ in layer]
        self.times = [list(times) for _ in range(self.count)]
        self.odd = None
        if self.count >= LEAST and rng.random() < 0.4:
            self.make_odd(layer, times)
        self.head, self.tail = [EMBEDDING], ["rms_norm_kernel", "lm_head_gemm_kernel", SAMPLING]

    def make_odd(self, layer, times):
        """One layer takes longer: by a kernel that takes more time, or by one more kernel."""
        at, kernel = self.rng.randrange(self.count), self.rng.randrange(len(layer))
        more = round(sum(times) * self.rng.uniform(0.6, 2.0))
        if self.rng.random() < 0.6:
            self.times[at][kernel] += more
            self.odd = (at + 1, layer[kernel], "longer kernels")
        elif at >= LEAST and at + 2 < self.count:  # else it is a border
            self.layers[at].insert(len(layer) - 1, "slow_patch_kernel")
            self.times[at].insert(len(layer) - 1, more)
            self.odd = (at + 1, "slow_patch_kernel", "other kernels")

    def run(self):
        names = [*self.head, *(name for layer in self.layers for name in layer), *self.tail]
        times = [9_000, *(ns for layer in self.times for ns in layer), 11_000, 50_000, 13_000]
        return [(name, round(ns * self.rng.uniform(0.97, 1.03))) for name, ns in zip(names, times)]


def write(path, model, rng):
    """A step for each pass, or all passes without marks. Returns the starts of passes."""
    is_marked, events, now, starts = rng.random() < 0.5, [], 1_000_000, []
    for number in range(rng.randint(1, 5)):
        starts.append(now)
        for name, ns in model.run():
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": now / 1e3,
                           "dur": ns / 1e3, "args": {"device": 0, "stream": 7}})
            now += ns + rng.randint(200, 2_000)
        if is_marked:
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1,
                           "tid": 1, "ts": starts[-1] / 1e3, "dur": (now - starts[-1]) / 1e3})
        now += 5_000
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return is_marked, len(starts)


def check(program, seed, folder):
    rng = random.Random(seed)
    model, path = Model(rng), folder / "trace.json"
    is_marked, passes = write(path, model, rng)
    done = subprocess.run([program, "trace", "--format", "json", path], capture_output=True, check=True,
                          timeout=60)
    facts = json.loads(done.stdout)["runs"][0]["facts"]
    if is_marked:
        passes = sum(not step["mark"] for step in facts["steps"]["list"])
    found = [(row["block_count"], row["kernel_count"], row["pass_count"])
             for row in facts["blocks"]["sequences"]]
    odd = [(row["block"], row["because"], row["why"]) for row in facts["blocks"]["odd_blocks"]]
    usual = min((len(layer) for layer in model.layers), default=0)
    expected = [(model.count, usual, passes)] if model.count >= LEAST and passes else []
    if found != expected:
        yield f"blocks {found}, in truth {expected}"
    expected = [model.odd] if model.odd and expected else []
    if odd != expected:
        yield f"odd blocks {odd}, in truth {expected}"


if __name__ == "__main__":
    sys.exit(seeds.main(check, 300))
