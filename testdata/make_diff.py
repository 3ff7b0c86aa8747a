# SPDX-License-Identifier: MIT
"""The two runs of this folder that are made to be compared: run_before and run_after. make.py
writes them; README.md works out what changed. Times are microseconds after the start of a step."""
import json

import make_runs

PROCESS, MAIN, AUTOGRAD, COMPUTE, COMM = 4242, 101, 102, 7, 13
STEPS, FIRST_STEP = 14, 5
GEMM = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"
ATTENTION = "void flash::flash_bwd_kernel<128>(flash::Flash_bwd_params)"
ATTENTION_DQ = "void flash::flash_bwd_dq_kernel<128>(flash::Flash_bwd_params)"
ATTENTION_DKV = "void flash::flash_bwd_dkv_kernel<128>(flash::Flash_bwd_params)"
REDUCE = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SGD = "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<2> >(int)"
COLLECTIVE = {"Collective name": "reduce_scatter", "In msg nelems": 262144,
              "Out msg nelems": 131072, "Group size": 2, "dtype": "BFloat16",
              "Process Group Name": "2", "Process Group Description": "default_pg",
              "Process Group Ranks": "[0, 1]"}
SHAPES = {"Input Dims": [[4096, 1024], [1024, 4096]], "Input type": ["c10::BFloat16"] * 2}


def step_before(more):
    """The reduce-scatter runs beside the attention's backward pass. more: of the GEMM's time."""
    end = 400 + more
    return [(GEMM, COMPUTE, 100, end), (ATTENTION, COMPUTE, end, end + 300),
            (REDUCE, COMM, end + 50, end + 250), (SGD, COMPUTE, end + 300, end + 360)]


def step_after(more):
    """Two kernels in place of one, and the reduce-scatter waits for the second one."""
    end = 400 + more
    return [(GEMM, COMPUTE, 100, end), (ATTENTION_DQ, COMPUTE, end, end + 200),
            (ATTENTION_DKV, COMPUTE, end + 200, end + 420),
            (REDUCE, COMM, end + 420, end + 620), (SGD, COMPUTE, end + 620, end + 680)]


def launch_of(name):
    """Thread and time of the launch of a kernel."""
    return {GEMM: (MAIN, 60), SGD: (MAIN, 425), REDUCE: (AUTOGRAD, 330),
            ATTENTION_DKV: (AUTOGRAD, 250)}.get(name, (AUTOGRAD, 215))


def span(kind, name, tid, start, end, **args):
    pid = 0 if kind == "kernel" else PROCESS
    return {"ph": "X", "cat": kind, "name": name, "pid": pid, "tid": tid, "ts": start,
            "dur": round(end - start, 3), "args": args}


def host_events(number, length):
    yield span("user_annotation", f"ProfilerStep#{number}", MAIN, 0, length)
    yield span("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
               MAIN, 0, 40)
    yield span("cpu_op", "aten::mm", MAIN, 50, 150, **SHAPES)
    yield span("cpu_op", "autograd::engine::evaluate_function: FlashBackward0", AUTOGRAD, 190, 310)
    yield span("cpu_op", "aten::_flash_attention_backward", AUTOGRAD, 200, 300)
    yield span("cpu_op", "record_param_comms", AUTOGRAD, 320, 360, **COLLECTIVE)
    yield span("user_annotation", "Optimizer.step#SGD.step", MAIN, 400, 480)
    yield span("cpu_op", "aten::_foreach_add_", MAIN, 410, 470)


def step_events(number, kernels, length):
    yield from host_events(number, length)
    for index, (name, stream, start, end) in enumerate(kernels):
        link, (thread, at) = 10 * number + index, launch_of(name)
        more = COLLECTIVE if name == REDUCE else {}
        yield span("cuda_runtime", "cudaLaunchKernel", thread, at, at + 10, correlation=link)
        yield span("kernel", name, stream, start, end, correlation=link, device=0, stream=stream,
                   **more)
    yield span("cuda_runtime", "cudaDeviceSynchronize", MAIN, 490, length - 5)


def trace(step_of, seed, lengths):
    """One event a line; the GEMM takes up to 1 % more or less."""
    jitter, at, lines = make_runs.noise(seed), 1000, []
    for number in range(FIRST_STEP, FIRST_STEP + STEPS):
        kernels = step_of(round(3 * next(jitter), 3))
        length = round(kernels[-1][3] + 20, 3)
        for event in step_events(number, kernels, length):
            event["ts"] = round(event["ts"] + at, 3)
            lines.append(json.dumps(event))
        lengths.append(length)
        at = round(at + length, 3)
    head = json.dumps({"schemaVersion": 1, "displayTimeUnit": "ms",
                       "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
                       "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}})
    return head[:-1] + ',\n"traceEvents": [\n' + ",\n".join(lines) + "\n]}\n"


def records(lengths, peak_mib, loss_of):
    """What the job logs of the same steps."""
    lines = []
    for index, length in enumerate(lengths):
        phases = {"data": 0.04, "forward": 0.1, "optimizer": 0.08}
        phases["backward"] = length / 1e3 - sum(phases.values())
        memory = {"alloc": 700 * make_runs.MIB, "reserved": 2048 * make_runs.MIB,
                  "peak_alloc": peak_mib * make_runs.MIB,
                  "peak_reserved": 2048 * make_runs.MIB}
        lines.append(make_runs.record(FIRST_STEP + index, phases, {"loss": loss_of(index)}, memory))
    return "".join(lines)


def run(step_of, seed, peak_mib, config, environment, loss_of):
    lengths = []
    text = trace(step_of, seed, lengths)
    about = {"name": "run", "config": config, "rank": 0, "world_size": 2,
             "environment": environment}
    return {"trace.json": text, "steps.jsonl": records(lengths, peak_mib, loss_of),
            "run.json": json.dumps(about, indent=2) + "\n"}


def files():
    before = run(step_before, 101, 1024, {"batch": 32, "lr": 0.001},
                 {"torch": "2.8.0", "hostname": "node1"}, lambda i: round(2 - 0.05 * i, 6))
    after = run(step_after, 202, 1224, {"batch": 32, "lr": 0.0003},
                {"torch": "2.9.0", "hostname": "node2"},
                lambda i: round(2 - (0.05 if i < 3 else 0.04) * i, 6))
    return {f"run_{name}/{path}": text.encode()
            for name, texts in (("before", before), ("after", after))
            for path, text in texts.items()}
