# SPDX-License-Identifier: MIT
"""The traces serving_* of this folder: what inference engines leave. make.py writes them; README.md
says what is true of them."""
import pathlib
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/reference"))

import make_serving  # noqa: E402: found by the line above


def trace(form, plan, **options):
    made, _ = make_serving.simulate(random.Random(7), plan, form, **options)
    return make_serving.write_trace(made.events).encode()


def prefill(**sizes):
    """Every fifth token waits for a prompt; some prompts are computed beside decoding."""
    plan = []
    for number in range(20):
        if number % 5 == 4:
            prompts = [8192] if number % 10 == 4 else [2048]
            decodes = 0 if number % 10 == 4 else 6
            plan.append(make_serving.iteration(number, prompts, decodes, graphs=(8,)))
        else:
            plan.append(make_serving.iteration(number, (), 6, keys=3000, graphs=(8,)))
    return trace("vllm", plan + [make_serving.iteration(20, [8192])], overlaps=True, layers=2,
                 **sizes)


def gaps():
    plan = [make_serving.iteration(number, (), 3, keys=500, graphs=(4,)) for number in range(12)]
    return trace("sglang_detailed", plan, gap_us=150, has_stacks=True, layers=3)


def eager():
    """Batches above 8 have no graph."""
    plan = [make_serving.iteration(number, (), 4 + number, keys=900, graphs=(1, 2, 4, 8))
            for number in range(14)]
    return trace("atom", plan, overlaps=True, layers=8, kernel_us=(1, 3))


def dequantized():
    """AWQ without kernels that multiply 4-bit weights: each product begins with expanding them."""
    plan = [make_serving.iteration(number, (), 5, keys=700, graphs=(8,)) for number in range(10)]
    return trace("vllm_detailed", plan, overlaps=True, of_graphs=("dequantizes",), layers=3)


def bandwidth():
    """Decoding that reads weights at 0.8 of an H100's bandwidth: 134.4 MB in 50 us, 40.1 at best."""
    us = make_serving.US
    made = make_serving.Trace(random.Random(7))
    for number in range(6):
        it, start = make_serving.iteration(number, (), 4), made.now
        for _ in range(4):
            began = made.now
            made.now += us
            correlation = made.call("cudaLaunchKernel", 3 * us)
            made.device({"work": []}, "kernel", make_serving.GEMM, 50 * us, correlation)
            made.now += us
            made.add("cpu_op", "aten::mm", began, made.now - began,
                     **{"Input Dims": [[4, 4096], [4096, 16384]],
                        "Input type": ["c10::BFloat16"] * 2})
        made.now = made.device_end
        made.add("user_annotation", make_serving.vllm(it)[0], start, made.now - start)
        made.now += 4 * us
    return make_serving.write_trace(made.events).encode()


def stages():
    """SGLang's profile_by_stage: a file for each, one after the other."""
    found = {}
    for name, start, plan in (
            ("EXTEND", 0, [make_serving.iteration(number, [2048]) for number in range(3)]),
            ("DECODE", 50_000_000, [make_serving.iteration(number, (), 4) for number in range(6)])):
        made, _ = make_serving.simulate(random.Random(7), plan, "sglang", layers=1)
        later = [{**event, "ts": event["ts"] + start} for event in made.events]
        found[f"serving_stages/1700000000.25-TP-0-{name}.trace.json"] = \
            make_serving.write_trace(later).encode()
    return found


def files():
    capture = make_serving.write_trace(make_serving.capture(random.Random(7), 4)).encode()
    return {
        "serving_prefill.json": prefill(),
        "serving_slower.json": prefill(kernel_us=(25, 40)),
        "serving_graphs/replay.json": gaps(),
        "serving_graphs/capture_traces/bs_4_rank0.json": capture,
        "serving_eager.json": eager(),
        "serving_dequantized.json": dequantized(),
        "serving_bandwidth.json": bandwidth(),
        **stages(),
    }
