#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of runs of which the second differs from the first in one thing, as traces like those of
torch.profiler, and what that thing does to the step, from the schedule that the events are written
from. The same options give the same bytes.

usage: make_changes.py FOLDER --change CHANGE [--seed N] [--ranks N] [--steps N] [--noise X]

Writes FOLDER/a, FOLDER/b (a trace for each rank) and FOLDER/truth.json:
  change_ns    what the mean step is longer, noise included; of several ranks that of the slowest in
               each step; a_ns and b_ns are the means
  injected_ns  the same of a pair without noise: what the change alone does
  noisy        the change is in a line; the noise of others hides it from the step
  rank_ns      [a, b] of each rank
  line         of the budget, in which the change shows; null: there is no change
  parts        [names in a, names in b] of what changed there; null: nothing by itself
  rank         the only rank that changed, or null

The means leave out the step that is cut by the end of the capture (ragged_last) or cold
(cold_first); both of these also have slower kernels. opposite: the loader waits less and kernels
are slower by nearly as much. vendor: another device, on which all kernels have other names.

What is simulated: data-parallel training. The host waits for the loader, launches forward, backward
(on a thread of its own) and optimizer much faster than the device works, and waits for the loss.
Gradients are reduced on a stream of their own while backward goes on; a reduction ends on all ranks
together, when the last one has come and the data has moved. The optimizer waits for the last one.
"""
import argparse
import json
import pathlib
import random

CHANGES = ("none", "kernel_slower", "kernel_split", "comm_exposed", "loader_stall", "rank_slow",
           "ragged_last", "cold_first", "opposite", "hidden_line", "host_python", "vendor")
LAYERS = 3
FIRST_STEP = 10
BASE_NS = 1_700_000_000_000_000_000
US, MS = 1_000, 1_000_000

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
WEIGHT_GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize256x128x64_execute_kernel__5x_cublas"
ATTENTION = "void flash_bwd_fused_kernel<Flash_bwd_traits<128, 64, 128>>(Flash_bwd_params)"
ATTENTION_PARTS = (
    "void flash_bwd_dq_kernel<Flash_bwd_traits<128, 64, 128>>(Flash_bwd_params)",
    "void flash_bwd_dk_dv_kernel<Flash_bwd_traits<128, 64, 128>>(Flash_bwd_params)")

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::%sCUDAKernelImpl>(int)"

# What a layer launches: operator, its inputs, kernels with their times.
FORWARD = (
    ("aten::layer_norm", [[8, 1024, 2048]],
     [("void vectorized_layer_norm_kernel<c10::BFloat16, float>(int)", 60 * US)]),
    ("aten::addmm", [[2048], [8192, 2048], [2048, 2048]],
     [("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", 700 * US)]),
    ("aten::_scaled_dot_product_flash_attention", [[8, 16, 1024, 128]],
     [("void flash_fwd_kernel<Flash_fwd_traits<128, 128, 64>>(Flash_fwd_params)", 400 * US)]),
    ("aten::gelu", [[8, 1024, 2048]], [(ELEMENTWISE % "Gelu", 80 * US)]),
)
BACKWARD = (
    ("GeluBackward0", "aten::gelu_backward", [[8, 1024, 2048]],
     [(ELEMENTWISE % "GeluBackward", 90 * US)]),
    ("ScaledDotProductFlashAttentionBackward0",
     "aten::_scaled_dot_product_flash_attention_backward", [[8, 16, 1024, 128]],
     [(ATTENTION, 900 * US)]),
    ("AddmmBackward0", "aten::mm", [[8192, 2048], [2048, 2048]],
     [("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_NNT", 700 * US)]),
    ("AddmmBackward0", "aten::mm", [[2048, 8192], [8192, 2048]], [(WEIGHT_GEMM, 700 * US)]),
)
EMBEDDING = ("EmbeddingBackward0", "aten::embedding_dense_backward", [[8, 1024]],
             [("void embedding_backward_kernel<c10::BFloat16, int>(int const*)", 700 * US)])
OPTIMIZER = ("aten::_fused_adamw_", [[2048, 2048]],
             [("void multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>(float const*)",
               300 * US)])
TRANSFER_NS = 500 * US
LOADER_NS = 300 * US
STALL_NS = 1500 * US   # of a slow loader, or of Python
PYTHON_NS = 100 * US   # between the loader and the first operator
LITTLE_NS = 250 * US   # what noise hides
COLD_NS = 60 * MS
WIDE_NOISE = 0.05      # of the device's time, by step
CUT_AT = 0.55          # of the last step

# How another vendor's libraries call the kernels, and what times they take.
VENDOR = {
    "nvjet": ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x64_MI16x16x1", 1.25),
    "sm90_xmma": ("Cijk_Ailk_Bjlk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1", 1.3),
    "flash_fwd": ("attn_fwd", 0.8), "flash_bwd": ("bwd_kernel_fuse", 0.85),
}
DEVICES = {True: ("AMD Instinct MI300X", 304), False: ("NVIDIA H100 80GB HBM3", 132)}

TRUTH = {
    "none": (None, None),
    "kernel_slower": ("compute", [[WEIGHT_GEMM], [WEIGHT_GEMM]]),
    "kernel_split": ("compute", [[ATTENTION], list(ATTENTION_PARTS)]),
    "comm_exposed": ("exposed_comm", None),
    "loader_stall": ("data_stall", None),
    "rank_slow": ("compute", None),
    "ragged_last": ("compute", [[WEIGHT_GEMM], [WEIGHT_GEMM]]),
    "cold_first": ("compute", [[WEIGHT_GEMM], [WEIGHT_GEMM]]),
    "opposite": ("data_stall", None),
    "hidden_line": ("data_stall", None),
    "host_python": ("launch_stall", None),
    "vendor": ("compute", None),
}
# What the first run of a pair has, where that is not the same as without a change.
FIRST = {"opposite": "loader_stall", "hidden_line": "noisy"}


class Rank:
    """One process with its device: clocks, and the events so far."""
    PID, MAIN, AUTOGRAD, STREAM, COMM_STREAM = 4000, 4000, 4611, 7, 20

    def __init__(self, number, run):
        self.number, self.run = number, run
        self.now = number * 37 * US  # processes do not start together
        self.thread = self.MAIN
        self.device_end = self.comm_end = 0
        self.events, self.calls = [], 0
        self.step_noise = 1.0
        self.comms = []

    def jitter(self, ns):
        return max(1, round(ns * (1 + self.run.rng.gauss(0, self.run.noise))))

    def device_time(self, name, ns):
        change = self.run.change
        if change in ("kernel_slower", "ragged_last", "cold_first") and name == WEIGHT_GEMM:
            ns *= 1.10
        if change == "opposite" and name == WEIGHT_GEMM:
            ns *= 1.6
        if change == "vendor":
            ns *= vendor_of(name)[1]
        if change == "rank_slow" and self.number == self.run.slow_rank:
            ns *= 1.08
        return self.jitter(ns * self.step_noise)

    def event(self, cat, name, start, end, args, tid=None, pid=None):
        if self.run.change == "vendor" and cat == "kernel":
            name = vendor_of(name)[0]
        self.events.append({
            "ph": "X", "cat": cat, "name": name, "pid": self.PID if pid is None else pid,
            "tid": self.thread if tid is None else tid, "ts": start / 1000, "dur": (end - start) / 1000,
            "args": args})

    def call(self, name, ns, external):
        """A call into the runtime; its correlation id is that of what it launches."""
        self.calls += 1
        start, self.now = self.now, self.now + self.jitter(ns)
        self.event("cuda_runtime", name, start, self.now,
                   {"External id": external, "correlation": self.calls})
        return self.calls

    def device_event(self, cat, name, start, end, stream, correlation, **args):
        self.event(cat, name, start, end,
                   {"device": 0, "context": 1, "stream": stream, "correlation": correlation, **args},
                   tid=stream, pid=0)

    def launch(self, cat, call, name, ns, external, not_before=0, **args):
        correlation = self.call(call, 5 * US, external)
        start = max(self.now + 4 * US, self.device_end + 1500, not_before)
        self.device_end = start + self.device_time(name, ns)
        self.device_event(cat, name, start, self.device_end, self.STREAM, correlation, **args)

    def operator(self, name, inputs, kernels, not_before=0):
        start, external = self.now, len(self.events) + 1
        self.now += self.jitter(2 * US)
        for kernel, ns in kernels:
            self.launch("kernel", "cudaLaunchKernel", kernel, ns, external, not_before,
                        grid=[1024, 1, 1], block=[256, 1, 1])
        self.now += self.jitter(US)
        self.event("cpu_op", name, start, self.now,
                   {"External id": external, "Input Dims": inputs,
                    "Input type": ["c10::BFloat16"] * len(inputs)})

    def inside(self, name, cat, body, *args):
        start = self.now
        self.now += US
        body(*args)
        self.now += US
        self.event(cat, name, start, self.now, {"External id": len(self.events) + 1})

    def backward_node(self, node, name, inputs, kernels):
        if self.run.change == "kernel_split" and kernels[0][0] == ATTENTION:
            kernels = [(ATTENTION_PARTS[0], 650 * US), (ATTENTION_PARTS[1], 550 * US)]
        self.inside(f"autograd::engine::evaluate_function: {node}", "cpu_op", self.operator, name,
                    inputs, kernels)

    def reduce_gradients(self):
        """Queues an all-reduce behind what the device has now; when it runs all ranks decide."""
        start, external = self.now, len(self.events) + 1
        ready = self.device_end
        correlation = self.call("cudaLaunchKernelExC", 8 * US, external)
        self.comms.append((max(self.now + 4 * US, ready), correlation))
        self.event("cpu_op", "record_param_comms", start, self.now, {
            "External id": external, "Collective name": "allreduce", "In msg nelems": 25_000_000,
            "Out msg nelems": 25_000_000, "dtype": "BFloat16", "Group size": self.run.rank_count,
            "Process Group Name": "0", "Process Group Description": "default_pg",
            "Seq": self.calls, "Process Group Ranks": str(list(range(self.run.rank_count)))})

    def forward(self):
        for _ in range(LAYERS):
            for name, inputs, kernels in FORWARD:
                self.operator(name, inputs, kernels)

    def backward(self):
        self.thread = self.AUTOGRAD
        is_late = self.run.change == "comm_exposed"
        reductions = LAYERS if self.run.rank_count > 1 else 0
        for _ in range(LAYERS):
            for node in BACKWARD:
                self.backward_node(*node)
            if reductions and not is_late:
                self.reduce_gradients()
        self.backward_node(*EMBEDDING)
        for _ in range(reductions if is_late else 0):
            self.reduce_gradients()
        self.thread = self.MAIN

    def begin_step(self, number):
        """The step up to where ranks wait for each other."""
        self.step_start, self.comms = self.now, []
        is_wide = self.run.noise and self.run.change in ("noisy", "hidden_line")
        self.step_noise = 1 + self.run.rng.gauss(0, WIDE_NOISE if is_wide else self.run.noise)
        start = self.now
        stall = {"loader_stall": STALL_NS, "hidden_line": LITTLE_NS}.get(self.run.change, 0)
        self.now += self.jitter(LOADER_NS + stall)
        self.event("user_annotation", LOADER, start, self.now, {"External id": len(self.events) + 1})
        self.launch("gpu_memcpy", "cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)", 20 * US,
                    len(self.events) + 1, bytes=262144)
        self.now += self.jitter(PYTHON_NS + (STALL_NS if self.run.change == "host_python" else 0))
        if self.run.change == "cold_first" and number == FIRST_STEP:
            load_start, self.now = self.now, self.now + COLD_NS
            self.event("cuda_driver", "cuLibraryLoadData", load_start, self.now, {"correlation": 0})
        self.forward()
        self.backward()

    def end_step(self, number):
        self.inside("Optimizer.step#AdamW.step", "user_annotation", self.operator, *OPTIMIZER,
                    self.comm_end)
        start, external = self.now, len(self.events) + 1
        self.launch("gpu_memcpy", "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 2 * US, external,
                    bytes=4)
        call_start, self.now = self.now, max(self.now, self.device_end) + self.jitter(3 * US)
        self.calls += 1
        self.event("cuda_runtime", "cudaStreamSynchronize", call_start, self.now,
                   {"External id": external, "correlation": self.calls})
        self.event("cpu_op", "aten::_local_scalar_dense", start, self.now, {"External id": external})
        self.now += self.jitter(5 * US)
        self.event("user_annotation", f"ProfilerStep#{number}", self.step_start, self.now,
                   {"External id": len(self.events) + 1})
        return self.now - self.step_start


    def cut_last(self):
        """The capture ends within the last step."""
        cut = self.step_start + CUT_AT * (self.now - self.step_start)
        kept = [event for event in self.events if 1000 * (event["ts"] + event["dur"]) <= cut]
        last = next(event for event in reversed(self.events)
                    if event["name"].startswith("ProfilerStep#"))
        last["dur"] = (cut - self.step_start) / 1000
        self.events = [*kept, last]


def vendor_of(name):
    """The name of a kernel on another vendor's device, and its time by what it was."""
    for known, ours in VENDOR.items():
        if known in name:
            return ours
    return name.replace("void ", "void hip::"), 1.1


class Run:
    """All ranks of one run."""

    def __init__(self, change, seed, rank_count, step_count, noise):
        self.change, self.rank_count, self.noise = change, rank_count, noise
        self.rng = random.Random(seed)
        self.slow_rank = rank_count - 1
        self.ranks = [Rank(number, self) for number in range(rank_count)]
        walls = [self.step(FIRST_STEP + i) for i in range(step_count)]
        # What is cold or cut is in no mean.
        self.walls = walls[change == "cold_first":step_count - (change == "ragged_last")]
        if change == "ragged_last":
            for rank in self.ranks:
                rank.cut_last()

    def step(self, number):
        """The wall time of the step on each rank."""
        for rank in self.ranks:
            rank.begin_step(number)
        for k in range(len(self.ranks[0].comms)):
            self.all_reduce(k)
        return [rank.end_step(number) for rank in self.ranks]

    def all_reduce(self, k):
        starts = [max(rank.comms[k][0], rank.comm_end + 1500) for rank in self.ranks]
        end = max(starts) + self.ranks[0].jitter(TRANSFER_NS)
        for rank, start in zip(self.ranks, starts):
            rank.comm_end = end
            rank.device_event("kernel", ALL_REDUCE, start, end, rank.COMM_STREAM, rank.comms[k][1],
                              grid=[24, 1, 1], block=[512, 1, 1])

    def mean_ns(self):
        return mean([max(walls) for walls in self.walls])

    def rank_mean_ns(self, number):
        return mean([walls[number] for walls in self.walls])

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        name, sms = DEVICES[self.change == "vendor"]
        for rank in self.ranks:
            trace = {
                "schemaVersion": 1,
                "deviceProperties": [{"id": 0, "name": name, "numSms": sms}],
                "distributedInfo": {"backend": "nccl", "rank": rank.number,
                                    "world_size": self.rank_count},
                "baseTimeNanoseconds": BASE_NS, "displayTimeUnit": "ms", "record_shapes": 1,
                "traceEvents": sorted(rank.events, key=lambda event: event["ts"])}
            path = folder / f"rank{rank.number}.pt.trace.json"
            path.write_text(json.dumps(trace, separators=(",", ":")))


def mean(numbers):
    """Rounded, halves up."""
    return (2 * sum(numbers) + len(numbers)) // (2 * len(numbers))


def write_pair(folder, change, seed, rank_count, step_count=14, noise=0.007):
    """Writes a pair below folder; returns its truth."""
    folder = pathlib.Path(folder)
    first = FIRST.get(change, "none")
    a = Run(first, 2 * seed, rank_count, step_count, noise)
    b = Run(change, 2 * seed + 1, rank_count, step_count, noise)
    calm_a, calm_b = (Run(kind, 0, rank_count, step_count, 0) for kind in (first, change))
    line, parts = TRUTH[change]
    truth = {
        "change": change, "noisy": change == "hidden_line", "a_ns": a.mean_ns(), "b_ns": b.mean_ns(),
        "change_ns": b.mean_ns() - a.mean_ns(),
        "injected_ns": calm_b.mean_ns() - calm_a.mean_ns(),
        "rank_ns": [[run.rank_mean_ns(number) for run in (a, b)] for number in range(rank_count)],
        "line": line, "parts": parts,
        "rank": rank_count - 1 if change == "rank_slow" else None}
    a.write(folder / "a")
    b.write(folder / "b")
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    return truth


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--change", choices=CHANGES, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--noise", type=float, default=0.007)
    options = parser.parse_args()
    truth = write_pair(options.folder, options.change, options.seed, options.ranks, options.steps,
                       options.noise)
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
