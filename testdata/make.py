#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the traces, runs and files about memory of this folder; README.md says what each shows.

usage: make.py           write the files beside this script
       make.py --check   only compare: exit 1 if a file differs from what would be written

Standard library only, and no clock, random numbers or compression levels: the
same bytes each time. Times are microseconds after the start of the trace.
"""
import gzip
import json
import pathlib
import sys

import make_archives
import make_composer
import make_diff
import make_fkat
import make_flops
import make_hang
import make_host_memory
import make_memory
import make_metrics
import make_mixed
import make_rank_sets
import make_run_memory
import make_runs
import make_capture
import make_servers
import make_three_jobs
import make_viztracer

HERE = pathlib.Path(__file__).parent
BASE_NS = 1790857026 * 10**9
MAIN, AUTOGRAD, COMPUTE_STREAM, COMM_STREAM = 101, 102, 7, 13
PROCESS = 4242

GEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3"
RELU = "void at::native::vectorized_elementwise_kernel<4, at::native::clamp_min_functor>(int)"
GEMM_BACKWARD = "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x64x8_stage3"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SGD = "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<2> >(int)"
COLLECTIVE = {
    "Collective name": "allreduce", "In msg nelems": 262144, "Out msg nelems": 262144,
    "Group size": 2, "dtype": "Float", "Process Group Name": "0",
    "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]",
}
GRID = {"grid": [64, 1, 1], "block": [128, 1, 1]}


# ---- what happened -----------------------------------------------------------------------


def op(name, thread, start, end, **args):
    return {"kind": "cpu_op", "name": name, "tid": thread, "start": start, "end": end, "args": args}


def annotation(name, start, end):
    return {"kind": "user_annotation", "name": name, "tid": MAIN, "start": start, "end": end,
            "args": {}}


def launch(name, thread, start, end, link, kind="cuda_runtime"):
    return {"kind": kind, "name": name, "tid": thread, "start": start, "end": end, "args": {},
            "link": link}


def device(kind, name, stream, start, end, link, **args):
    return {"kind": kind, "name": name, "tid": stream, "start": start, "end": end, "args": args,
            "link": link}


def step(number, at, all_reduce_end, optimizer_end):
    """One training step; README.md draws it. at: when its ProfilerStep begins."""
    base = number * 10
    events = [
        op("aten::copy_", MAIN, 120, 180),
        op("aten::linear", MAIN, 190, 300),
        op("aten::addmm", MAIN, 200, 290, **{"Input Dims": [[256], [64, 512], [512, 256]],
                                             "Input type": ["float", "float", "float"]}),
        op("aten::relu", MAIN, 310, 350),
        op("autograd::engine::evaluate_function: AddmmBackward0", AUTOGRAD, 400, 520),
        op("AddmmBackward0", AUTOGRAD, 410, 510),
        op("aten::mm", AUTOGRAD, 420, 500, **{"Input Dims": [[512, 64], [64, 256]],
                                              "Input type": ["float", "float"]}),
        op("record_param_comms", AUTOGRAD, 530, 580, **COLLECTIVE),
        op("aten::_foreach_add_", MAIN, 620, 690),
        op("aten::item", MAIN, 810, 900),
        op("aten::_local_scalar_dense", MAIN, 815, 890),
        annotation(f"ProfilerStep#{number}", 0, 990),
        annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 110),
        annotation("Optimizer.step#SGD.step", 600, 800),
        launch("cudaMemcpyAsync", MAIN, 130, 150, base + 1),
        launch("cudaLaunchKernel", MAIN, 260, 270, base + 2),
        launch("cudaLaunchKernel", MAIN, 330, 340, base + 3),
        launch("cudaLaunchKernel", AUTOGRAD, 450, 460, base + 4),
        launch("cudaLaunchKernelExC", AUTOGRAD, 540, 550, base + 5),
        launch("cudaLaunchKernel", MAIN, 640, 650, base + 6),
        launch("cudaMemcpyAsync", MAIN, 820, 840, base + 7),
        launch("cudaStreamSynchronize", MAIN, 845, 880, base + 8),
        device("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", COMPUTE_STREAM, 160, 220,
               base + 1, bytes=1048576),
        device("kernel", GEMM, COMPUTE_STREAM, 280, 400, base + 2, **GRID),
        device("kernel", RELU, COMPUTE_STREAM, 400, 430, base + 3, **GRID),
        device("kernel", GEMM_BACKWARD, COMPUTE_STREAM, 470, 600, base + 4, **GRID),
        device("kernel", ALL_REDUCE, COMM_STREAM, 560, all_reduce_end, base + 5,
               **GRID, **COLLECTIVE),
        device("kernel", SGD, COMPUTE_STREAM, all_reduce_end, optimizer_end, base + 6, **GRID),
        device("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", COMPUTE_STREAM, 850, 860,
               base + 7, bytes=4),
        device("gpu_user_annotation", "Optimizer.step#SGD.step", COMPUTE_STREAM,
               all_reduce_end - 0.001, optimizer_end + 0.001, None),
    ]
    for event in events:
        event["start"] += at
        event["end"] += at
    return events


def two_steps():
    events = step(1, 1000, 700, 760) + step(2, 2000, 740, 800)
    for index, event in enumerate(e for e in events if e["kind"] in ("cpu_op", "user_annotation")):
        event["id"] = index + 1
    return events


def enclosing_op(events, call):
    """The innermost cpu_op on the call's thread: what new writers put into "External id"."""
    around = [e for e in events if e["kind"] == "cpu_op" and e["tid"] == call["tid"]
              and e["start"] <= call["start"] < e["end"]]
    return max(around, key=lambda e: e["start"])["id"] if around else 0


# ---- how writers of different ages print it ------------------------------------------------

OLD_NAMES = {"cpu_op": "Operator", "kernel": "Kernel", "gpu_memcpy": "Memcpy",
             "cuda_runtime": "Runtime"}
DEVICE_KINDS = ("kernel", "gpu_memcpy", "gpu_user_annotation")


def render(events, era):
    """Chrome events of the trace. era: "A" (1.8), "D" (2.0), "F" (2.8 and later) or "rocm"."""
    absolute = era in "AD"
    operator_of = {e["link"]: enclosing_op(events, e) for e in events if e["kind"] == "cuda_runtime"}
    for event in events:
        on_device = event["kind"] in DEVICE_KINDS
        args = dict(event["args"])
        link = event.get("link")
        if "id" in event:
            args["External id"] = event["id"]
        elif link is not None:
            # A kernel whose launch is not in the trace has no operator.
            args["External id"] = link if era == "D" else operator_of.get(link, 0)
            args["correlation"] = link
        if on_device:
            args.update(device=0, stream=event["tid"])
        name, category = event["name"], event["kind"]
        if era == "A":
            category = OLD_NAMES.get(category, category)
            args = {key.replace("External", "external"): value for key, value in args.items()}
        if era == "rocm":
            name, args = to_hip(event, name, args)
        tid = f"stream {event['tid']}" if era == "A" and on_device else event["tid"]
        shift = BASE_NS // 1000 if absolute else 0
        yield {"ph": "X", "cat": category, "name": name, "pid": 0 if on_device else PROCESS,
               "tid": tid, "ts": Time(event["start"] + shift, absolute),
               "dur": Time(event["end"] - event["start"], absolute), "args": args}


def to_hip(event, name, args):
    """ROCm: other call names, and a copy's bytes stand on its call instead of on the copy."""
    name = name.replace("cudaLaunchKernelExC", "hipExtLaunchKernel").replace("cuda", "hip")
    if event["kind"] == "gpu_memcpy":
        args.pop("bytes")
        args["kind"] = "HtoD" if "HtoD" in name else "DtoH"
        name = "Memcpy " + args["kind"]
    elif name == "hipMemcpyAsync":
        args.update(bytes="1048576" if event["link"] % 10 == 1 else "4", cid=81)
    return name, args


class Time(float):
    """Prints as Kineto does: three decimals, or whole microseconds in the old eras."""

    def __new__(cls, value, whole):
        self = super().__new__(cls, value)
        self.text = str(int(value)) if whole else f"{value:.3f}"
        return self

    def __repr__(self):
        return self.text


def surroundings(era, end=3500):
    """Rows that are no work: names of rows, the profiler's own span, marks. Traps for a reader."""
    shift = BASE_NS // 1000 if era in "AD" else 0
    whole = era in "AD"
    yield {"name": "process_name", "ph": "M", "ts": Time(1000 + shift, whole), "pid": PROCESS,
           "tid": 0, "args": {"name": "python3"}}
    for ordinal in range(2):
        yield {"name": "process_labels", "ph": "M", "ts": Time(1000 + shift, whole),
               "pid": ordinal, "tid": 0, "args": {"labels": f"GPU {ordinal}"}}
    for thread in (MAIN, AUTOGRAD):
        yield {"name": "thread_name", "ph": "M", "ts": Time(1000 + shift, whole), "pid": PROCESS,
               "tid": thread, "args": {"name": f"thread {thread} (python3)"}}
    yield {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
           "tid": "PyTorch Profiler", "ts": Time(500 + shift, whole), "dur": Time(end - 500, whole),
           "args": {"Op count": 0}}
    yield {"ph": "i", "s": "g", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces",
           "tid": "Trace PyTorch Profiler", "ts": Time(500 + shift, whole)}
    yield {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "",
           "ts": Time(end + shift, whole)}


def flows(events):
    """ac2g arrows; as Kineto does, calls that launch nothing get an end without a start."""
    for event in events:
        link = event.get("link")
        if link is None:
            continue
        flow = {"ph": "s" if event["kind"] == "cuda_runtime" and link % 10 != 8 else "f",
                "id": link, "pid": 0 if event["kind"] in DEVICE_KINDS else PROCESS,
                "tid": event["tid"], "ts": Time(event["start"], False), "cat": "ac2g",
                "name": "ac2g"}
        yield flow if flow["ph"] == "s" else {**flow, "bp": "e"}


def print_event(event):
    """Kineto's layout: the fields on three lines, the arguments one on each."""
    head = [k for k in ("ph", "s", "cat", "name", "pid", "tid", "id") if k in event]
    tail = [k for k in ("ts", "dur", "bp") if k in event]
    line = ", ".join(f'"{k}": {json.dumps(event[k])}' for k in head)
    text = "  {\n    " + line + ",\n    " + ", ".join(
        f'"{k}": {event[k]!r}' if isinstance(event[k], Time) else f'"{k}": {json.dumps(event[k])}'
        for k in tail)
    if "args" in event:
        args = ",\n      ".join(f'"{k}": {json.dumps(v)}' for k, v in event["args"].items())
        text += ',\n    "args": {\n      ' + args + "\n    }"
    return text + "\n  }"


def document(events, head, tail=None):
    """The object form. head, tail: other keys before and after traceEvents."""
    parts = [f'  "{k}": {json.dumps(v)}' for k, v in head.items()]
    parts.append('  "traceEvents": [\n' + ",\n".join(print_event(e) for e in events) + "\n  ]")
    parts += [f'  "{k}": {json.dumps(v)}' for k, v in (tail or {}).items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


# ---- the files -----------------------------------------------------------------------------

GPU = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85097971712, "computeMajor": 8,
       "computeMinor": 0, "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
       "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 108}
AMD_GPU = {**GPU, "name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992, "warpSize": 64,
           "computeMajor": 9, "computeMinor": 4, "numSms": 304}
H100 = {**GPU, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 84942979072, "computeMajor": 9,
        "numSms": 132}
RANK = {"backend": "nccl", "rank": 0, "world_size": 2, "pg_count": 1, "pg_config": [
    {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": 2,
     "ranks": [0, 1]}], "nccl_version": "2.21.5"}


def new_style(rank=0):
    events = two_steps()
    body = [*render(events, "F"), *flows(events), *surroundings("F")]
    return document(body, {"schemaVersion": 1, "deviceProperties": [GPU], "record_shapes": 1,
                           "distributedInfo": {**RANK, "rank": rank}, "displayTimeUnit": "ms",
                           "baseTimeNanoseconds": BASE_NS}, {"traceName": "two_steps.json"})


def old_style(era):
    events = [e for e in two_steps() if e["kind"] != "gpu_user_annotation"]
    body = [*render(events, era), *surroundings(era)]
    return document(body, {"schemaVersion": 1, "deviceProperties": [GPU]},
                    {"traceName": "old.json", "distributedInfo": {"rank": 0}})


def rocm():
    body = [*render(two_steps(), "rocm"), *surroundings("rocm")]
    return document(body, {"schemaVersion": 1, "deviceProperties": [AMD_GPU],
                           "roctracer_version": 4.1, "displayTimeUnit": "ms",
                           "baseTimeNanoseconds": BASE_NS, "distributedInfo": RANK})


def with_shapes(gpu, events):
    body = [*render(events, "F"), *surroundings("F", 6000)]
    return document(body, {"schemaVersion": 1, "deviceProperties": [gpu], "record_shapes": 1,
                           "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS})


def cpu_only():
    events = [e for e in two_steps() if e["kind"] in ("cpu_op", "user_annotation")]
    body = [*render(events, "F"), *surroundings("F")]
    return document(body, {"schemaVersion": 1, "deviceProperties": []},
                    {"displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS})


def bare_array_cut():
    lines = [json.dumps({"name": name, "ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": ts,
                         "dur": 10})
             for name, ts in (("aten::mm", 0), ("aten::add", 20), ("aten::relu", 40))]
    return "[" + ",\n".join(lines)[:-20]


def unescaped_quotes():
    """Names with raw quotes, a raw tab and a bare N/A: no JSON, yet what old writers wrote."""
    events = "".join(
        '  {\n    "ph": "X", "cat": "user_annotation", "name": ' + name + ', "pid": 1, "tid": 1,\n'
        f'    "ts": {ts}, "dur": 8,\n    "args": {{\n      "External id": {ts}, "rate": {rate}\n'
        "    }\n  },\n" for ts, name, rate in
        ((100, '"load "train" split"', "1"), (110, '"a\tb"', "N/A"), (120, '"plain"', "2")))
    return '{\n  "schemaVersion": 1,\n  "traceEvents": [\n' + events.rstrip(",\n") + "\n  ]\n}\n"


def chrome_phases():
    """Every phase of the Chrome format that is read, and each way to write an id or a time."""
    rows = [
        {"ph": "B", "name": "outer", "cat": "app", "pid": 1, "tid": 1, "ts": 10},
        {"ph": "B", "name": "inner", "cat": "app", "pid": 1, "tid": 1, "ts": "20.5"},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 30},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 1e2},
        {"ph": "X", "name": "whole", "cat": "app", "pid": "worker", "tid": "7", "ts": 40, "dur": 5},
        {"ph": "i", "name": "mark", "s": "t", "pid": 1, "tid": 1, "ts": 50},
        {"ph": "C", "name": "queue", "pid": 1, "tid": 1, "ts": 55, "args": {"length": 3}},
        {"ph": "b", "name": "job", "cat": "async", "id": "0x1f", "pid": 1, "tid": 1, "ts": 60},
        {"ph": "n", "name": "job", "cat": "async", "id": "0x1f", "pid": 1, "tid": 1, "ts": 65},
        {"ph": "e", "name": "job", "cat": "async", "id": "0x1f", "pid": 1, "tid": 1, "ts": 70},
        {"ph": "s", "name": "f", "cat": "flow", "id": 1, "pid": 1, "tid": 1, "ts": 75},
        {"ph": "f", "name": "f", "cat": "flow", "id": 1, "pid": 1, "tid": 1, "ts": 80, "bp": "e"},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 110},
        {"ph": "X", "name": "no time", "pid": 1, "tid": 1},
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "example"}},
    ]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def execution_trace():
    node = {"id": 2, "name": "aten::mm", "ctrl_deps": 1, "inputs": {}, "outputs": {}, "attrs": []}
    return json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": PROCESS, "time": "2026-01-01",
                       "start_ts": 1, "nodes": [node]}, indent=2) + "\n"


def gzip_members(text):
    """Two members, cut inside an event. Stored, so that no compressor's version shows."""
    half = len(text) // 2
    return b"".join(gzip.compress(part, compresslevel=0, mtime=0)
                    for part in (text[:half], text[half:]))


def zstd_frames(text):
    """A skippable frame and two frames of one raw block each: zstd without a compressor."""
    def frame(part):
        assert len(part) < 128 * 1024  # the largest block
        header = (0xFD2FB528).to_bytes(4, "little") + b"\xa0" + len(part).to_bytes(4, "little")
        return header + (len(part) << 3 | 1).to_bytes(3, "little") + part

    skippable = (0x184D2A50).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"hello"
    half = len(text) // 2
    return frame(text[:half]) + skippable + frame(text[half:])


def files():
    trace = new_style().encode()
    return {
        "two_steps.json": trace,
        "two_steps.json.gz": gzip_members(trace),
        "two_steps.json.zst": zstd_frames(trace),
        "two_steps_cut.json": trace[:len(trace) * 2 // 3],
        "era_a.json": old_style("A").encode(),
        "era_d.json": old_style("D").encode(),
        "rocm.json": rocm().encode(),
        "cpu_only.json": cpu_only().encode(),
        "flops.json": with_shapes(GPU, make_flops.training()).encode(),
        "slow_loader.json": with_shapes(GPU, make_flops.slow_loader()).encode(),
        "flops_part.json": with_shapes(H100, make_flops.part()).encode(),
        "throttled.json": with_shapes(
            GPU, make_flops.with_ids(list(make_flops.throttled()))).encode(),
        "bare_array_cut.json": bare_array_cut().encode(),
        "unescaped_quotes.json": unescaped_quotes().encode(),
        "chrome_phases.json": chrome_phases().encode(),
        "execution_trace.json": execution_trace().encode(),
        "empty_window.json": document([], {"schemaVersion": 1, "deviceProperties": [GPU]})
        .replace("[\n\n  ]", "[]").encode(),
        **make_runs.runs(new_style),
        **make_memory.files(),
        **make_host_memory.files(),
        **make_metrics.files(),
        **make_run_memory.files(document),
        **make_diff.files(),
        **make_composer.files(),
        **make_hang.files(),
        **make_mixed.files(),
        **make_rank_sets.files(),
        **make_archives.files(),
        **make_capture.files(),
        **make_servers.files(),
        **make_three_jobs.files(document),
        **make_fkat.files(document, execution_trace()),
        **make_viztracer.files([*render(two_steps(), "F"), *surroundings("F")], PROCESS, MAIN),
    }


def is_same(path, data):
    """Compressed, another compressor's version writes the same text otherwise."""
    if not path.is_file():
        return False
    found = path.read_bytes()
    return found == data or path.suffix == ".gz" and gzip.decompress(found) == gzip.decompress(data)


def main():
    stale = 0
    for name, data in files().items():
        path = HERE / name
        if sys.argv[1:] == ["--check"]:
            if not is_same(path, data):
                print(f"testdata/{name} is not what make.py writes: run python3 testdata/make.py")
                stale += 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
