#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz targets filter (part), hang, json, kernel_name, lanes, memray, metrics, op_work, plain, saved_report, slice, steps,
trace, trend and world: one short input for each thing that they should know from the start. (Whole traces come from testdata/; a finding is
added by hand as corpus/<target>/fix-<what>.)

usage: make_corpus.py
"""
import gzip
import json
import pathlib
import pickle
import random
import struct
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"

VALUES = {
    "numbers": b'[0,-1,1.5e3,9223372036854775807,18446744073709551615,1e400,"12"]',
    "strings": rb'["\u00e9\ud83d\ude00\ud800\u0000\n\"\\","C:\Users","a\u12",""]',
    "nested": b'{"a":{"b":[{"c":[[[]]]}]},"a":1,}',
    "words": b"[NaN,Infinity,-Infinity,true,false,null,N/A]",
    "cut": b'{"a":[1,2,{"b":"c',
    "times": b'["1704161511420306.491",0.0005,-0.0005,1e3,"x",12345678901234567890]',
}
STEPS = {
    "pytscope": b'{"step":0,"phases":{"data":0.012,"forward":1.5e-05,"eval":2},'
                b'"scalars":{"loss":2.5,"lr":0.001,"grad_norm":NaN},"memory":{"alloc":1,"reserved":2,"peak_alloc":3}}\n'
                b'{"step":1,"phases":{"comm":-1},"scalars":{"loss":-Infinity,"a":"inf"}}\n',
    "own": b'{"step":1,"phases":{},"mark":"first","start_ns":-7,"wall_ns":50,"budget_mark":"",'
           b'"budget_ns":{"compute":60,"device_gap":40},"compute_phase_ns":{"forward":60}}\n'
           b'{"step":1,"wall_ns":9,"host_budget_ns":{"data":4,"comm":5},'
           b'"exposed_ns":{"wait":2,"transfer":3}}\n',
    "runs": b'{"idx":5}\n{"idx":6}\n\n{"idx":3.0,"phases":{"x":1,"x":2}}\nx\n{"global_step":4',
    "run_json": b'{"name":"run","rank":0,"world_size":8,"flops_per_step":2.5e12,"peak_flops":1e14,'
                b'"tscope":{"has_start":true,"point_to_point":true,"doubt":"a\\u001fb"}}',
    "provenance": b'{"name":"a","started":1.5e9,"wall_time":4.5,"n_steps":9,"environment":{"torch":"2",'
                  b'"env":{"A":"\\u00e4","B":null}},"config":{"lr":1e-3,"m":{"b":[1.0,"x"],"a":true}}}',
}
FLOAT = b"\x0a\x04loss\x15\x00\x00\x20\x40"  # tag and simple value
TENSOR = b"\x0a\x01x\x42\x08\x08\x01\x2a\x04\x00\x00\x80\x3e\x4a\x0b\x0a\x09\x0a\x07scalars"
WALL_TIME = b"\x09" + struct.pack("<d", 1.7e9)
METRICS = {
    "lightning": b'epoch,step,train_loss,"a,""b"\n0,49,2.5,\n0,49,,nan\n1,99,-inf,1e-05\n',
    "table": b"\xef\xbb\xbfWall time,Step,Value\r\n1.5,7.0,0.25\r\n1,,2\r\nx,1,text\r\n2,3",
    "mlflow": b"1700000000123 0.5 3\n1 nan 1 model\n5 0.25\n5 -inf 3\nx\n7 1 1",
    # Messages that the target frames, with 0xfe between them.
    "events": b"\xfe".join([
        WALL_TIME + b"\x1a\x0dbrain.Event:2",
        WALL_TIME + b"\x10\x32\x2a\x0d\x0a\x0b" + FLOAT,
        b"\x2a%c\x0a%c%s\x10\x07" % (len(TENSOR) + 2, len(TENSOR), TENSOR),
        b"\x0b\x08\x05\x0c\x10\x07\x2a\x05\x0a\x03\x2a\x01\x00"]),
    "tensors": b"\xfe".join(b"\x2a%c\x0a%c\x0a\x01x\x42%c%s" % (
        len(tensor) + 7, len(tensor) + 5, len(tensor), tensor) for tensor in [
            b"\x08\x02\x22\x08\0\0\0\0\0\0\xe0\x3f", b"\x08\x03\x3a\x02\x96\x01",
            b"\x08\x09\x50\x05", b"\x08\x01\x2d\0\0\x80\x3f", b"\x08\x07\x42\x01t"]),
}


def zstd_frame(text):
    """A frame of one raw block that says its length."""
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(text)]) + (len(text) << 3 | 1).to_bytes(3, "little") + text


def skippable_frame(length):
    return b"\x50\x2a\x4d\x18" + length.to_bytes(4, "little") + b"x" * length


def of_length(rest, data):
    """As many bytes as fuzz_filter.c takes for threads, and blocks of 1 (rest 1) or 64 bytes (3)."""
    return data + skippable_frame((rest - len(data)) % 8)


FRAMES = b"".join(zstd_frame(b"%019d\n" % i) for i in range(60))
FILTER = {
    "zstd_threads": of_length(3, FRAMES),
    "zstd_threads_tiny": of_length(1, FRAMES[:290] + skippable_frame(3) * 9 + FRAMES),
    "zstd_threads_broken": of_length(3, FRAMES + b"\x28\xb5\x2f\xfd\x20\x09\xff\xff\xff" + FRAMES),
}
BAR = b"-" * 80 + b"\n"
# One for each form of plain data, and for what only it has.
PLAIN = {
    "json": b'{"segments":[{"address":140737488355328,"total_size":2097152,"frames":[]}],'
            b'"device_traces":[[{"action":"alloc","frames":[{"name":"f","line":7}]},'
            b'{"action":"free","frames":[{"name":"f","line":7}]}]],'
            b'"a\\u00e9":[NaN,-1.5e-3,true]}\n',
    "json_timeline": b"[[1700000000000000,1700000000000001],"
                     b"[[0,1,2,3,4,5,6,7,8],[0,8,7,6,5,4,3,2,1]]]",
    "json_raw": b"[[-1,1,37888,7],[1700000000000000000,2,512,3],[1700000000000000001,4,-512,3]]",
    "yaml": b"!!python/object/apply:collections.defaultdict\n"
            b"args:\n- !!python/name:builtins.dict ''\ndictitems:\n"
            b"  0.f.0.end: &a\n    rss: 1\n    ? x\n    : 1.0e-05\n  0.f.0.start: *a\n",
    "yaml_flow": b"--- {a: [.inf, ~, yes, 'x', \"y\", !!str 1], b: |\n  text\n  }\n--- 2\n",
    "page": b"<!DOCTYPE html>\n<script>const local_files = "
            b"[{\"name\": \"a\", \"base64\": \"gARLBy4A\"}, {\"base64\": \"gARdLgAA\"}]</script>\n",
    "page_picture": b"<html><img src='data:image/png;base64,iVBO'></html>",
    "tracker": b"Iteration 2 training_step Peak FSDP memory stats: \n" + BAR
               + b"Device: cuda:0\n\tSharded Param: 1024 B\n\tTotal: 1024 B\n" + BAR
               + b"Iteration 2 training_step Modulewise FSDP memory stats: \n" + BAR
               + b"Module:  net.0\n_FSDPModState.BEF_PRE_FW\n# 1:\nDevice: cuda:0\n"
                 b"\t_FSDPRefType.ACT: 0.5 MiB\n\n" + BAR,
    "tracker_table": b"Iteration 2 f Modulewise FSDP memory stats: \nModule:  net.0\n"
                     b"================  ========  =======\nState & Call      Device    Buffer\n"
                     b"================  ========  =======\nPeak-Forward # 1  cuda:0    1 KiB\n"
                     b"                  cpu       2 GiB\n================  ========  =======\n",
    "pickle": b"(dp0\nVsegments\np1\n(lp2\nsV1\nI2\ns.",
}
# Name, signature and concrete inputs of an operator.
OPS = {
    "mm": b"aten::mm\n[[8, 64], [64, 128]] float, float\n",
    "addmm": b"aten::addmm\n[[128], [8, 64], [64, 128], [], []] "
             b"c10::Half, c10::Half, c10::Half, Scalar, Scalar\n[, , , 1, 1]",
    "bmm": b"aten::bmm\n[[4, 8, 64], [4, 64, 128]] c10::BFloat16, c10::BFloat16\n",
    "linear": b"aten::linear\n[[2, 8, 64], [128, 64], []] double, double, \n",
    "scaled_mm": b"aten::_scaled_mm\n[[16, 64], [64, 128], [], [], [], [], [], []] "
                 b"c10::Float8_e4m3fn, c10::Float8_e4m3fn, float, float, , , Scalar, Scalar\n",
    "convolution": b"aten::convolution\n"
                   b"[[2, 8, 9, 9], [16, 4, 3, 3], [16], [], [], [], [], [], []] "
                   b"float, float, float, ScalarList, ScalarList, ScalarList, Scalar, ScalarList, "
                   b"Scalar\n[, , , [2, 2], [1, 1], [1, 1], False, [0, 0], 2]",
    "transposed": b"aten::convolution\n[[2, 8, 9], [8, 4, 3], [], [], [], [], [], [], []] "
                  b"float, float, , , , , , , \n[, , , [2], [1], [1], True, [1], 1]",
    "convolution_backward": b"aten::convolution_backward\n"
                            b"[[2, 16, 9], [2, 8, 9], [16, 8, 3], [], [], [], [], [], [], [], []] "
                            b"float, float, float, , , , , , , , \n"
                            b"[, , , [0], [1], [1], [1], False, [0], 1, [True, False, True]]",
    "attention": b"aten::scaled_dot_product_attention\n"
                 b"[[2, 8, 128, 64], [2, 2, 256, 64], [2, 2, 256, 32], [], [], [], [], []] "
                 b"c10::Half, c10::Half, c10::Half, , Scalar, Scalar, , Scalar\n"
                 b"[, , , , 0., True, , True]",
    "flash_backward": b"aten::_flash_attention_backward\n[[2, 128, 8, 64], [2, 128, 8, 64], "
                      b"[2, 128, 8, 64], [2, 128, 8, 64], [2, 128, 8, 64], [2, 8, 128]] "
                      b"c10::Half, c10::Half, c10::Half, c10::Half, c10::Half, float\n",
    "add": b"aten::add\n[[8, 1, 64], [128, 1], []] float, float, Scalar\n[, , 1]",
    "lists": b"aten::_foreach_add_\n[[[8, 64], [64]], [[8, 64], [64]], []] "
             b"TensorList, TensorList, Scalar\n",
    "far": b"aten::mm\n[[9223372036854775807, 9223372036854775807], "
           b"[9223372036854775807, 99999999999999999999]] float, float\n",
    "odd": b"aten::mm\n[[-1, 1e9], [[[[[[, ]], 0x2] float, float, \n[[[",
}


def event(phase, name, start, duration, **more):
    return {"ph": phase, "name": name, "ts": start, "dur": duration, "pid": 1, "tid": 1, **more}


def kernel(name, start, duration, correlation, stream=7):
    return event("X", name, start, duration, cat="kernel",
                 args={"device": 0, "stream": stream, "correlation": correlation})


def call(name, start, duration, correlation):
    return event("X", name, start, duration, cat="cuda_runtime", args={"correlation": correlation})


def composer(phase, name, at, rank=0, **args):
    """As Composer's handler writes it: the rank is the pid."""
    return {"name": name, "cat": "", "ph": phase, "ts": 1790857026000000 + at, "pid": rank,
            "tid": 70 + rank, "args": args}


def recording(rank):
    return [
        composer("M", "global_rank", 0, rank, value=rank),
        composer("M", "clock_sync_timestamp_us", 0, rank, value=1790857026000100 + rank),
        composer("M", "clock_sync_error_bound", 0, rank, value=4),
        composer("E", "dataloader/train", 150, rank, epoch=0, batch=6),
        composer("B", "event/train_batch", 200, rank, epoch=0, batch=7),
        composer("B", "event/forward", 210, rank), composer("E", "event/forward", 240, rank),
        composer("B", "algorithm/MixUp/event/before_loss", 245, rank),
        composer("E", "algorithm/MixUp/event/before_loss", 250, rank),
        composer("E", "event/train_batch", 300, rank),
        composer("B", "callback/A/event/batch_end", 310, rank),
        composer("E", "callback/A/event/batch_end", 340, rank),
        composer("B", "event/eval", 350, rank), composer("E", "event/eval", 390, rank),
        composer("B", "event/train_batch", 400, rank, epoch=1, batch=8),
        composer("C", "memory/swap", 410, rank, used_gb=4096.5, free_gb=1),
        composer("C", "disk/sda/read_bytes", 420, rank, field_name=7),
    ]


STEP = [
    event("X", "ProfilerStep#1", 0, 100, cat="user_annotation"),
    event("X", "aten::mm", 10, 30, cat="cpu_op", args={"External id": 3}),
    call("cudaLaunchKernel", 15, 5, 8),
    kernel("gemm", 30, 40, 8),
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 50, 40, 9, stream=13),
    call("cudaStreamSynchronize", 80, 15, 10),
]
TRACES = {
    "step": {"schemaVersion": 1, "traceEvents": STEP},
    "array": STEP,
    "slices": [event("B", "a", 0, 0), event("B", "b", 1, 0), event("E", "", 2, 0),
               event("X", "c", 1, 5), event("E", "a", 9, 0), event("E", "late", 9, 0)],
    "graph": {"traceEvents": [call("cudaGraphLaunch", 0, 5, 4), kernel("k", 10, 5, 4),
                              kernel("k", 12, 5, 4), kernel("untimed", 0, 0, 4)]},
    "host": {"traceEvents": [event("X", "ProfilerStep#4", 0, 50, cat="user_annotation"),
                             event("X", "gloo:all_reduce", 10, 9, cat="user_annotation")],
             "distributedInfo": {"rank": 1, "world_size": 2, "backend": "gloo"}},
    "viztracer": {"traceEvents": [
        event("X", "__next__ (/x/torch/utils/data/dataloader.py:7)", 1, 0.4006015155280184, cat="FEE"),
        event("X", "builtins.print", 5, 2, cat="fee"), event("X", "outer (a.py:3)", 1, 9, cat="FEE"),
        event("X", "inner (a.py:1)", 1, 9, cat="FEE"),
        event("C", "garbage collection", 3, 0, args={"collecting": 1}),
        event("C", "garbage collection", 4, 0, args={"collecting": 0}),
        event("X", "wrapper (/x/torch/optim/optimizer.py:4)", 7, 1, cat="FEE")],
        "viztracer_metadata": {"version": "1.1.1", "overflow": True, "baseTimeNanoseconds": 7}},
    "composer": recording(0),
    # Copied events of torch, which counts from the begin of a period.
    "composer_torch": [*recording(3), {**kernel("k", 230, 9, 4), "pid": 3},
                       {**call("cudaLaunchKernel", 220, 5, 4), "pid": 3, "tid": 73}],
    "composer_merged": [{"name": "thread_sort_index", "ph": "M", "pid": 1, "tid": 71,
                         "args": {"sort_index": 99999}}, *recording(0), *recording(1)],
    # Ranks that were merged: in the pid, as SGLang does, before names, and in what is said of the process.
    "merged_sglang": {"schemaVersion": 1, "traceEvents": [
        {**one, "pid": f"[TP0{rank}-PP00] {one['pid']}"} for rank in range(2) for one in STEP]},
    "merged_names": {"schemaVersion": 1, "traceEvents": [
        {**one, "name": f"[R{rank}] {one['name']}", "pid": 8 + rank} for rank in range(2) for one in STEP]},
    "merged_said": {"schemaVersion": 1, "traceEvents": [
        {**one, "pid": 8 + rank} for rank in range(2) for one in STEP] + [
        {"ph": "M", "name": "process_name", "pid": 8, "tid": 0, "args": {"name": "Rank 0"}},
        {"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "args": {"name": "python3", "rank": 1}}]},
    "far": {"baseTimeNanoseconds": 1767189312000000000, "traceEvents": [
        event("X", "a", 9223372036854775, 1, cat="cpu_op"),
        event("X", "b", -9223372036854775, 9223372036854775, cat="kernel")]},
}


# The JSON goes where the mark is.
PAGES = {
    "page": b"<!DOCTYPE html>\n<script>function onTraceViewerImportFail() {}\n"
            b"json_data[0]; json_data = %s\n</script></html>\n",
    "page_cut": b"<html>onTraceViewerImportFail var json_data=%s",
}


def site(name, peak, end):
    return {"device": 0, "site": name, "bytes": peak, "end_bytes": end, "end_count": 1}


def segment(address, size):
    return {"device": 0, "address": address, "pool": "large", "kind": "plain",
            "reserved_bytes": size, "allocated_bytes": 5}


def launched(name, kernel_count, time_ns):
    return {"name": name, "count": kernel_count, "total_ns": time_ns, "counted": kernel_count,
            "counted_ns": time_ns, "step_deviation_ns": 1.5}


def facts(scale):
    """Something for each analyzer of a comparison."""
    return {
        "steps": {"count": 3, "counted_count": 3},
        "step_time": {"mean_ns": 100 * scale, "count": 3, "cv": 0.6, "p95_p50_ratio": 2.5,
                      "reliability": "clocks", "doubts": {"phase.data_ns": "a"},
                      "phase": {"data_ns": 30 * scale, "data_ratio": 0.3, "optimizer_ratio": 0.2}},
        "series": {"steps": {"step": [0, 1, 2], "time_ns": [99, None, 101 * scale],
                             "loss": [2.5, 1e300, -0.0], "loss_text": ["NaN"]}},
        "kernels": {"count": 2, "name_count": 2, "by_name": [
            launched("gemm<128>", 3, 50 * scale), launched("\u00e9", 1, 7)]},
        "operators": {"count": 6, "name_count": 3, "by_name": [launched("aten::mm", 3, 60 * scale)]},
        "snapshot": {"peak_allocated_bytes": 70 * scale, "fragmentation_ratio": 0.5,
                     "sites": [site("a.py:1 f", 9, 8 * scale), site("b", 2, 2)],
                     "segments": [segment("0x10", 5), segment("0x20", 6 * scale)]},
        "provenance": {"environment": [{"name": "torch", "value": "2.%d" % scale}]},
        "unknown": {"count": 1},
    }


def report(**more):
    return json.dumps({"schema_version": 1, "tool": {"name": "tscope", "version": "0.1"}, **more},
                      separators=(",", ":")).encode()


NO_WORK = {"steps": {"count": 3, "counted_count": 3}, "kernels": {"count": 0, "by_name": []}}
RUN = report(facts=facts(1), ranks=[{"rank": 1, "facts": facts(2)}, {"rank": 0, "facts": facts(1)}])
REPORTS = {
    "run": RUN,
    "pair": RUN + b"\xff" + report(facts=facts(2), ranks=[{"rank": 1, "facts": facts(3)}]),
    "new": report(facts=NO_WORK) + b"\xff" + report(facts=facts(1)),
    "gone": report(facts=facts(1)) + b"\xff" + report(facts=NO_WORK),
    "far": report(facts={"step_time": {"mean_ns": -2**63, "cv": 2**64, "count": 1e19},
                         "snapshot": {"sites": [site("a", 2**63 - 1, -2**63)]}})
    + b"\xff" + report(facts={"snapshot": {"sites": [site("a", -2**63, 2**63 - 1)]}}),
    "trace": report(trace={"rank": 3}, facts=facts(1), devices=[]),
    "file": report(inputs=[{"rank": 2}], files=[{"path": "a", "facts": facts(1)}]),
    "several": report(traces=[{"facts": {}}, {"facts": {}}]),
    "comparison": report(sides={}, facts={"step_change": {}}),
}

# As world_bytes.h reads them.
AGAIN, TWO_WINDOWS, IS_HOST, HAS_HOST_NAME, HAS_DEVICE, IS_SHIFTED = (1 << i for i in range(6))
ALL_REDUCE, BROADCAST, SEND_RECV, SEND = 1, 5, 9, 9 + 11 * 12
COMPUTE, EXPOSED_COMM = 0, 1
UNSAID = 240


def number(value):
    return bytes([value] if value < 160 else [160 + value // 256, value % 256])


def numbers(*values):
    return b"".join(map(number, values))


def counted(*items):
    return bytes([len(items)]) + b"".join(items)


def group(name, bits):
    return bytes([name, name, UNSAID, bits % 256, bits // 256])


def step(step_number, duration, *pieces, after=0):
    """Each piece is a line and how long; the last lasts to the end."""
    last = pieces[-1][0]
    return (numbers(step_number, 0, after, duration) + bytes([len(pieces) - 1])
            + b"".join(bytes([line]) + number(length) for line, length in pieces[:-1]) + bytes([last]))


def op(after, duration, kind, group_index=0, sequence=UNSAID, peer=UNSAID, size=64, stream=0):
    """sequence and peer: a byte."""
    return (numbers(after, duration, 20) + bytes([group_index, kind, stream, 5, sequence, peer])
            + numbers(size, size))


def window(start, groups, steps, ops):
    return number(start) + counted(*groups) + counted(*steps) + counted(*ops) + counted(bytes([1, 0, 9, 90, 4]))


def world(*ranks):
    return bytes([len(ranks) - 2]) + b"".join(ranks)


STEPS_OF_TWO = [step(1, 1000, (COMPUTE, 400), (EXPOSED_COMM, 300), (COMPUTE, 0)),
                step(2, 900, (COMPUTE, 600), (EXPOSED_COMM, 0))]
REDUCES = [op(300, 400, ALL_REDUCE), op(1200, 400, ALL_REDUCE)]
FIRST = window(50, [group(3, 0b1111)], STEPS_OF_TWO, REDUCES)
CHAIN = [step(1, 1000, (COMPUTE, 400), (EXPOSED_COMM, 0))]
WORLDS = {
    "data_parallel": world(bytes([0, 0]) + FIRST, *[bytes([AGAIN, 0, 10 * i, i]) for i in range(1, 4)]),
    "host": world(bytes([IS_HOST, 0]) + FIRST, bytes([IS_HOST | AGAIN, 0, 9, 77])),
    "far_clocks": world(bytes([0, 0]) + FIRST, bytes([AGAIN | IS_SHIFTED, 0, 9, 0])),
    "windows": world(*[bytes([TWO_WINDOWS, 0]) + FIRST + FIRST for _ in range(3)]),
    "numbered": world(*[bytes([0, 0]) + window(i, [group(2, 0b111)], STEPS_OF_TWO, [
        op(300, 400 - i, ALL_REDUCE, sequence=i), op(500, 60, ALL_REDUCE, sequence=i + 1)]) for i in range(3)]),
    "stages": world(
        bytes([0, 0]) + window(0, [group(4, 0b11)], CHAIN, [
            op(400, 90, SEND, peer=1), op(300, 200, SEND_RECV, peer=1)]),
        bytes([0, 0]) + window(0, [group(4, 0b11)], CHAIN, [
            op(200, 290, SEND_RECV, peer=0), op(600, 60, SEND, peer=0)])),
    "gaps": world(bytes([0, 0]) + window(0, [group(3, 0b11)], [
        step(1, 100, (COMPUTE, 0)), step(2, 100, (COMPUTE, 0), after=90), step(3, 100, (COMPUTE, 0), after=5),
    ], REDUCES), bytes([AGAIN, 0, 0, 1])),
    "nodes": world(bytes([HAS_HOST_NAME | HAS_DEVICE, 0, 1, 5, 0, 2]) + FIRST,
                   bytes([HAS_HOST_NAME | HAS_DEVICE, 0, 3, 5, 1, 2]) + FIRST),
    "no_groups": world(bytes([0, 0]) + window(0, [], STEPS_OF_TWO, REDUCES + [op(9, 9, BROADCAST)]),
                       bytes([AGAIN, 0, 7, 3]), bytes([AGAIN, 0, 5, 9])),
    "far": world(bytes([0, 0, 245, 0, 1, 9, 0, 244, 242, 3, 1, 244, 1, 0, 2, 242, 242, 0, 0, 1]),
                 bytes([IS_SHIFTED, 0, 244, 0, 1, 9, 0, 242, 242, 0, 1, 1, 242, 242, 244, 0, 1, 0, 0, 242, 243])),
}


def capture(version, body, aggregated=False, native=False, python=0x030d05f0):
    """A memray capture: its header, and records."""
    python_version = struct.pack("<i", python) if version >= 12 else b""
    form = bytes([aggregated]) if version >= 10 else b""
    tids = struct.pack("<QQ", 1, 1) if version >= 9 else b""
    allocator = struct.pack("<i", 1) if version == 7 else b"\1"
    flags = b"\0" * (min(max(version, 10), 12) - 10)
    paths = b"/usr\0a\0b\0\0c\0\0" if version == 13 else b""
    return (b"memray\0" + struct.pack("<i", version) + python_version + bytes([native]) + form
            + struct.pack("<QQqq", 9, 3, 1000, 2000) + b"x.py\0" + struct.pack("<i", 7) + tids + allocator + flags
            + paths + body)


def aggregate(allocator, node):
    return struct.pack("<BQB7xQQQQQQQ", 2, 1, allocator, 0, node, 1, 2, 1, 128, 64)


SWITCH = b"\x0c" + struct.pack("<Q", 1)
IMAGES = b"\x06\x07libc.so\0\x01" + bytes(8) + b"\x08" + bytes(8) + b"\x80\x20"
OLD = (SWITCH + b"\x0aMain\0" + IMAGES + b"\x05\x80\x40\x00\x0b\x80\x20\x05\x03\x00f\0a.py\0\x0a\x04\x00"
       b"\x11\x80\x40\xac\x02\xa1\x80\x40\x80\x20\x09\x21\xff\x3f\xb1\x80\x40\x80\x10\x10")
OLD_NATIVE = SWITCH + b"\x03\x02g\0b.py\0\x05\x04\x00\x12\x80\x40\xac\x02\x02\x19\x10" + bytes(40)
CODE = b"\x0e\x05f\0a.py\0\x0a"
NEW = (SWITCH + IMAGES + b"\x02\x80\x20\x05" + CODE + b"\x07\xef\x00\xd8\x01\x02\xff\xf0" + b"\x41\x05\x08"
       b"\xfe\x80\x08\xac\x02\x85\xf8\x02\x0e\x07\x3f\x02\x88\x0f\x03\x10\x41\x05\x20\x86\x01\x11\x01")
TREE = SWITCH + b"\x0aMain\0" + b"\x01" + struct.pack("<QQQ", 1012, 4096, 7)
OLD_TREE = (TREE + b"\x03" + struct.pack("<QI", 5, 0) + b"\x03" + struct.pack("<QI", 6, 1)
            + b"\x04" + struct.pack("<Q", 5) + b"f\0a.py\0" + struct.pack("<iB", 3, 1)
            + aggregate(1, 2) + aggregate(10, 0) + b"\x0f\0\0")
NEW_TREE = (TREE + b"\x0d\x80\x40" + b"\x04\x00\x05\x08\x01" + b"\x03\x00\x00\x03\x01\x01" + CODE
            + b"\x02\xef\x00" + aggregate(6, 1) + aggregate(14, 2) + b"\x0f")
CAPTURES = {
    **{f"v{version}": capture(version, OLD) for version in range(7, 12)},
    "v11_native": capture(11, OLD_NATIVE, native=True),
    "v12": capture(12, NEW),
    "v12_native": capture(12, SWITCH + b"\xfe\x02\x02\x09\x3f\x02\x02\x3e\x02\x85\x01", native=True),
    "v12_python39": capture(12, SWITCH + CODE + b"\x04\x00\x01\x08\xff\x41\x05\x10\x86\x01\x01", python=0x030905f0),
    "v12_python310": capture(12, SWITCH + CODE + b"\x04\x04\x01\x02\x80\x41\x05\x02\x86\x01\0", python=0x030a05f0),
    "v13": capture(13, NEW),
    **{f"v{version}_sums": capture(version, OLD_TREE if version < 12 else NEW_TREE, aggregated=True)
       for version in range(10, 14)},
    "v14": capture(14, b""),
}

# Files about memory of each kind; the last byte is that of the options.
MEMORY = {
    "stats": json.dumps({
        "total_num_allocations": 3, "total_bytes_allocated": 300,
        "allocation_size_histogram": [{"min_bytes": 0, "max_bytes": 63, "count": 3}],
        "allocator_type_distribution": {"MALLOC": 2, "MMAP": 1},
        "top_allocations_by_size": [{"location": "f:a.py:3", "size": 200}],
        "top_allocations_by_count": [{"location": "f:a.py:3", "count": 2}],
        "metadata": {"start_time": "2026-01-01 00:00:00", "end_time": "2026-01-01 00:01:00",
                     "total_allocations": 3, "total_frames": 2, "peak_memory": 200, "pid": 7,
                     "command_line": "a.py", "python_allocator": "pymalloc", "has_native_traces": False},
    }).encode(),
    "snapshot": json.dumps({
        "segments": [{"device": 0, "address": 4096, "total_size": 1024, "stream": 0,
                      "segment_type": "small", "allocated_size": 512, "active_size": 512,
                      "blocks": [{"size": 512, "requested_size": 500, "state": "active_allocated",
                                  "frames": [{"filename": "a.py", "line": 3, "name": "f"}]},
                                 {"size": 512, "requested_size": 0, "state": "inactive"}]}],
        "device_traces": [[{"action": "alloc", "addr": 4096, "size": 500, "stream": 0,
                            "frames": [{"filename": "a.py", "line": 3, "name": "f"}]},
                           {"action": "oom", "device_free": 10, "size": 900, "stream": 0, "frames": []}]],
    }).encode(),
    "timeline": b"[[1, 2], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9, 2, 3, 4, 5, 6, 7, 8]]]",
    "raw_timeline": b"[[-1, 1, 512, 0], [5, 2, 256, 4], [9, 4, -256, 4]]",
    "statistics": b"!!python/object/apply:collections.defaultdict\nargs:\n- !!python/name:builtins.dict ''\n"
                  b"dictitems:\n  0.training_step.1.end:\n    allocated_bytes.all.current: 9\n    rss: 5\n",
}


def lanes_trace(events):
    return b'{"schemaVersion": 1,\n"traceEvents": [\n' + b",\n".join(events) + b'],\n"traceName": "},{\\"ph\\""}'


def usual_event(number, between=b", ", colon=b": ", more=b""):
    return b"{" + between.join([b'"ph"%s"X"' % colon, b'"cat"%s"cpu_op"' % colon, b'"name"%s"op%d"' % (colon, number % 5),
                                b'"ts"%s%d.%03d' % (colon, 1000 + number, number), b'"dur"%s%d' % (colon, number % 30),
                                b'"args"%s{"correlation"%s%d}' % (colon, colon, number)]) + more + b"}"


# The last byte: in blocks of 300 or 64, as a file or a stream (fuzz_lanes.c).
# (All real ones come from testdata/kernel_names.tsv.)
KERNEL_NAMES = {
    "arguments": b"void a::(anonymous namespace)::b<c<(d)0, e->f> >(g<h>)",
    "enable_if": b"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, __half>(x)",
    "mangled": b"_ZN5aiter28pa_bf16_noquant_gqa16_1tg_4wE",
    "unbalanced": b">)(<<(::nccl<unnamed>void nvjet_sm90",
}

LANES = {
    "usual": lanes_trace([usual_event(i) for i in range(60)]) + b"\x30",
    "stream": lanes_trace([usual_event(i) for i in range(60)]) + b"\x22",
    "two_writers": lanes_trace([usual_event(i) if i // 20 % 2 else usual_event(i, b",", b":") for i in range(100)]) + b"\x30",
    "odd": lanes_trace([usual_event(i, more=odd) for i, odd in enumerate([
        b"", b', "name": "a"b"', b', "args": {"a": "}, {\\"ph\\": 1"}', b', "id": N/A', b', "args": {"a": ""\\"}', b",",
        b', "args": [{"ph": 1}, {"ph": 2}]', b', "name": "b\tc"', b', "dur": 1e3', b', "name": 7'] * 6)]) + b"\x32",
}


def hangs():
    """Small jobs with each fault: the dumps of up to four ranks, between lines of dashes."""
    sys.path.append(str(CORPUS.parents[2] / "tests/reference"))
    import hang_jobs

    for fault in hang_jobs.FAULTS:
        for seed in range(100):
            job = hang_jobs.Job(random.Random(f"{fault.__name__} {seed}"), 4, tp=1, pp=4, steps=2,
                                layers=1, has_experts=False)
            if fault in (hang_jobs.split, hang_jobs.order, hang_jobs.root):
                job = hang_jobs.Job(random.Random(f"{fault.__name__} {seed}"), 4, tp=1, pp=1,
                                    steps=2, layers=1, has_experts=True, has_gather=True)
            truth = fault(job)
            if truth:
                break
        job.run()
        writer = hang_jobs.Writer(random.Random(fault.__name__), job)
        writer.has_frames, writer.capacity, writer.protocol = fault is hang_jobs.size, 12, 2
        dumps = [writer.texts(writer.dump(r)) if writer.is_json else
                 pickle.dumps(writer.dump(r), protocol=2)
                 for r in range(4) if r not in truth.drop]
        yield fault.__name__, b"\n----\n".join(dumps)


def text_of(trace):
    return json.dumps(trace, separators=(",", ":")).encode()


def rank_trace(rank):
    """Steps and a collective that the ranks share."""
    collective = {**kernel("ncclDevKernel_AllReduce", 20 + rank, 5, 9), "args": {
        "correlation": 9, "Collective name": "allreduce", "In msg nelems": 4, "dtype": "Float",
        "Process Group Name": "0", "Group size": 2, "Process Group Ranks": "[0, 1]"}}
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1767189312000000000, "traceEvents": [
        *STEP, call("cudaLaunchKernel", 3, 2, 9), collective,
        {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python"}}],
        "distributedInfo": {"rank": rank, "world_size": 2, "backend": "nccl"}}


# The last byte chooses what stays (fuzz_slice.c).
SLICES = {
    "step": text_of(TRACES["step"]) + b"\x00",
    "step_hidden": text_of(TRACES["step"]) + b"\x14",
    "host_packed": text_of(TRACES["host"]) + b"\x02",
    "viztracer_hidden": text_of(TRACES["viztracer"]) + b"\x2c",
    "devices_by_time": text_of(TRACES["graph"]) + b"\x21",
    "ranks": b"\xff".join(text_of(rank_trace(rank)) for rank in range(2)) + b" ",
    "ranks_hidden": b"\xff".join(text_of(rank_trace(rank)) for rank in range(2)) + b"\x14",
}


def figures(*means_ns, **more):
    return b"".join(text_of({"run": f"r{i}", "time": f"2026-01-{i + 1:02}", "commit": "ab", "fact": fact,
                             "value": value, **more}) + b"\n"
                    for i, mean_ns in enumerate(means_ns)
                    for fact, value in (("step_time.mean_ns", mean_ns), ("efficiency.mfu", 0.5)))


TRENDS = {
    "level": figures(*[100000 + i * 7 % 5 for i in range(8)], *[130000 + i * 7 % 5 for i in range(8)]),
    "doubtful": figures(1, 2, doubt="a\u001fb \u00e9") + figures(3, good=False),
    "two_files": figures(5, 6, 7) + b"\xff\xef\xbb\xbf" + figures(8) + b"{\n\n" + figures(1e300, -1, 2**63),
    "report_behind": figures(5, 6, 7) + b"\xff" + json.dumps(
        {"version": 1, "facts": {"step_time": {"mean_ns": 5}}}).encode(),
}


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def main():
    for name, data in CAPTURES.items():
        write("memray", name, data)
        write("memory", "memray_" + name, data + b"\0")
    for name, data in MEMORY.items():
        write("memory", name, data + b"\0")
    for name, data in hangs():
        write("hang", name, data)
    for name, data in VALUES.items():
        write("json", name, data)
    for name, data in KERNEL_NAMES.items():
        write("kernel_name", name, data)
    for name, data in LANES.items():
        write("lanes", name, data)
    for name, data in FILTER.items():
        write("filter", name, data)
    for name, data in METRICS.items():
        write("metrics", name, data)
    for name, data in OPS.items():
        write("op_work", name, data)
    for name, data in PLAIN.items():
        write("plain", name, data)
    for name, data in REPORTS.items():
        write("saved_report", name, data)
    for name, data in SLICES.items():
        write("slice", name, data)
    for name, data in STEPS.items():
        write("steps", name, data)
    for name, data in TRENDS.items():
        write("trend", name, data)
    for name, data in WORLDS.items():
        write("world", name, data)
    for name, trace in TRACES.items():
        data = text_of(trace)
        write("json", name, data)
        write("trace", name, data)
        write("trace", name + ".gz", gzip.compress(data, compresslevel=0, mtime=0))
        if name.startswith("merged_"):  # only runs read the ranks one by one
            write("map", name, data)
    events = json.dumps(TRACES["viztracer"]).encode()
    write("trace", "page", PAGES["page"] % events.replace(b"</", b"<\\/"))
    write("trace", "page_cut", PAGES["page_cut"] % events[:-20])


if __name__ == "__main__":
    main()
