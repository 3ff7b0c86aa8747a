#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of inference engines, simulated, with what is true of them beside.

A server has requests that decode and prompts that come in. The host marks an iteration as its
engine does, launches it (as a graph where one was captured for the batch, else kernel by kernel),
and either waits for it or prepares the next one meanwhile. The truth is worked out from the
schedule, not from the trace.

usage: make_serving.py FOLDER SEED     writes trace.json and truth.json
"""
import json
import pathlib
import random
import sys

US = 1000


# ---- annotations: the name, and what it says: prompts, their tokens, decodes, theirs, keys, padded

def vllm(it):
    name = (f"execute_context_{it['prompts']}({it['prompt_tokens']})"
            f"_generation_{it['decodes']}({it['decode_tokens']})")
    return name, {**it, "keys": None}


def vllm_detailed(it):
    total = it["prompt_tokens"] + it["decode_tokens"]
    prompt_keys = it["prompt_tokens"]
    name = (f"execute_{total}_context_{it['prompts']}(sq{it['prompt_tokens']}sk{prompt_keys}"
            f"sqsq{it['prompt_tokens'] ** 2}sqsk{it['prompt_tokens'] ** 2})"
            f"_generation_{it['decodes']}(sq{it['decode_tokens']}sk{it['decode_keys']}"
            f"sqsq{it['decode_tokens']}sqsk{it['decode_keys']})")
    return name, {**it, "keys": prompt_keys + it["decode_keys"]}


def vllm_new(it):
    return (f"execute_new_{it['prompts']}_cached_{it['decodes']}",
            {**it, "prompt_tokens": None, "decode_tokens": None, "keys": None})


def sglang(it, detailed=False):
    bs = it["prompts"] + it["decodes"]
    prompt = f" c_sq={it['prompt_tokens']} c_sqsq=1 c_sqsk=1 c_sk={it['prompt_tokens']}"
    decode = f" g_sq={it['decode_tokens']} g_sqsq=1 g_sqsk=1 g_sk={it['decode_keys']}"
    keys = it["decode_keys"] if detailed else None
    if it["phase"] == "idle":
        return "step[IDLE bs=0]", {**it, "keys": None}
    if it["phase"] == "prefill":
        more = prompt if detailed else ""
        return f"step[EXTEND bs={bs} toks={it['prompt_tokens']}{more}]", {**it, "keys": None}
    if it["phase"] == "mixed" and detailed:
        return (f"step[MIXED bs={bs} c={it['prompts']} g={it['decodes']}{prompt}{decode}]",
                {**it, "keys": it["prompt_tokens"] + it["decode_keys"]})
    if it["phase"] == "mixed":
        return (f"step[MIXED bs={bs}]", {**it, "prompt_tokens": None, "decode_tokens": None,
                                         "decodes_said": None, "keys": None})
    if it["phase"] == "speculative" and not detailed:
        return f"step[TARGET_VERIFY bs={bs}]", {**it, "decode_tokens": None, "keys": None}
    more = decode if detailed else ""
    return f"step[DECODE bs={bs}{more}]", {**it, "keys": keys}


def sglang_detailed(it):
    return sglang(it, True)


def atom(it, detailed=False):
    bs, tokens = it["prompts"] + it["decodes"], it["prompt_tokens"] + it["decode_tokens"]
    keys = it["prompt_tokens"] + it["decode_keys"]
    more = f" sqsq=1 sqsk=1 sk={keys}" if detailed else ""
    said = {**it, "keys": keys if detailed else None}
    if it["phase"] == "idle":
        return "dummy_decode[bs=1/8 tok=1 d=1]", {**it, "keys": None}
    if it["phase"] == "prefill":
        return f"prefill[bs={bs} tok={tokens} ctx=[{tokens}, 7]{more}]", said
    spec = it["decode_tokens"] // it["decodes"] - 1
    mix = f" p={it['prompts']} d={it['decodes']}" if it["prompts"] else f" d={it['decodes']}"
    batch = f"{bs}/{it['graph']}" if it["graph"] else f"{bs}"
    kind = "decode" if it["graph"] or it["prompts"] else "eager_decode"
    return (f"{kind}[bs={batch} tok={tokens}{mix}{f' spec={spec}' if spec else ''}{more}]",
            {**said, "padded": it["graph"]})


def atom_detailed(it):
    return atom(it, True)


def tensorrt(it):
    tokens = f"{it['prompt_tokens']} ctx tokens, " if it["number"] % 2 else ""
    return (f"[Executor] _forward_step {it['number']}: {it['prompts']} ctx reqs, {tokens}"
            f"{it['decodes']} gen reqs",
            {**it, "prompt_tokens": it["prompt_tokens"] if tokens else None,
             "decode_tokens": None, "keys": None})


FORMS = {form.__name__: form for form in
         (vllm, vllm_detailed, vllm_new, sglang, sglang_detailed, atom, atom_detailed, tensorrt)}
PROPOSES = ("vllm", "vllm_detailed", "sglang", "sglang_detailed", "atom", "atom_detailed")
ENGINES = {"tensorrt": "tensorrt_llm"}


# What an engine's host does, by its functions: output of the iteration before, schedule, inputs.
FUNCTIONS = {
    "vllm": {"output": "vllm/v1/core/sched/scheduler.py(1035): update_from_output",
             "schedule": "vllm/v1/core/sched/scheduler.py(248): schedule",
             "prepare": "vllm/v1/worker/gpu_model_runner.py(1518): _prepare_inputs",
             "sample": "vllm/v1/worker/gpu_model_runner.py(2900): _sample"},
    "sglang": {"output": "sglang/srt/managers/scheduler.py(2500): process_batch_result_decode",
               "schedule": "sglang/srt/managers/scheduler.py(1800): get_next_batch_to_run",
               "prepare": "sglang/srt/managers/schedule_batch.py(2000): prepare_for_decode",
               "sample": "sglang/srt/model_executor/model_runner.py(3305): sample"},
    "atom": {"output": "/app/atom/model_engine/scheduler.py(700): postprocess",
             "schedule": "/app/atom/model_engine/scheduler.py(300): schedule",
             "prepare": "/app/atom/model_engine/model_runner.py(900): prepare_model",
             "sample": "/app/atom/model_ops/sampler.py(40): forward"},
    "tensorrt": {
        "output": "tensorrt_llm/_torch/pyexecutor/py_executor.py(1500): _process_previous_batch",
        "schedule": "tensorrt_llm/_torch/pyexecutor/py_executor.py(1032): _schedule",
        "prepare": "tensorrt_llm/_torch/pyexecutor/model_engine.py(1200): _prepare_tp_inputs",
        "sample": "tensorrt_llm/_torch/pyexecutor/py_executor.py(1300): _sample_async"},
}
PARTS = ("schedule", "prepare", "forward", "sample", "output", "wait")


# ---- the server

def iteration(number, prompts=(), decodes=0, proposed=0, keys=1000, graphs=(), of_tokens=False):
    """prompts: their lengths."""
    if prompts and decodes:
        phase = "mixed"
    elif prompts or decodes:
        phase = "prefill" if prompts else "speculative" if proposed else "decode"
    else:
        phase = "idle"
    # vLLM captures graphs for numbers of tokens, others for numbers of requests.
    fits = [size for size in graphs if size >= decodes * (1 + proposed if of_tokens else 1)]
    return {"number": number, "phase": phase, "prompts": len(prompts),
            "prompt_tokens": sum(prompts), "decodes": decodes,
            "decode_tokens": decodes * (1 + proposed), "decode_keys": keys * decodes,
            "graph": min(fits) if fits and phase in ("decode", "speculative") else None}


def random_plan(rng, form, graphs):
    """Iterations of a server whose batch changes; the last is no shorter than the others."""
    decodes, plan = rng.randint(1, 12), []
    proposed = rng.choice((0, 0, 0, 3)) if form in PROPOSES else 0
    has_idle = form in ("vllm", "sglang", "atom")
    for number in range(rng.randint(4, 40)):
        kind = rng.random()
        prompts = [rng.randint(16, 4096) for _ in range(rng.randint(1, 3))]
        if kind < 0.12:
            plan.append(iteration(number, prompts, graphs=graphs))
        elif kind < 0.24 and not proposed:
            plan.append(iteration(number, prompts, decodes, graphs=graphs))
        elif kind < 0.28 and has_idle:
            plan.append(iteration(number))
        else:
            plan.append(iteration(number, (), decodes, proposed, rng.randint(10, 5000), graphs,
                                  form.startswith("vllm")))
        decodes = max(1, decodes + rng.choice((-1, 0, 0, 1, 2)))
    plan.append(iteration(len(plan), [4096], graphs=graphs))
    has_verified = any(it["phase"] == "speculative" for it in plan)
    return [{**it, "has_draft": has_verified} for it in plan]


GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_tn_n"


class Trace:
    """Events of one process with one device, and its clock."""

    def __init__(self, rng, layers=3, kernel_us=(15, 30)):
        self.rng, self.layers, self.kernel_us = rng, layers, kernel_us
        self.events, self.work = [], []
        self.now = 100 * US + rng.randrange(1000)
        self.device_end, self.correlation = 0, 0
        self.functions, self.work_of_host = None, []  # [(start, end, part)], disjoint
        self.names_sizes = self.has_grids = self.loses = False  # of graphs
        self.dequantizes = False

    def add(self, cat, name, start, duration, track=101, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 100, "tid": track,
                            "ts": start, "dur": duration, **({"args": args} if args else {})})

    def host(self, part, duration):
        """A function of the engine; half of them call one that says nothing of what it is for."""
        start = self.now
        self.now += duration
        if not self.functions:
            return
        self.work_of_host.append((start, self.now, part))
        self.add("python_function", self.functions[part], start, duration)
        if duration > 4 * US and self.rng.random() < 0.5:
            self.add("python_function", "vllm/utils.py(3): helper", start + US, 2 * US)

    def call(self, name, duration, **args):
        self.correlation += 1
        self.add("cuda_runtime", name, self.now, duration, correlation=self.correlation, **args)
        self.now += duration
        return self.correlation

    def device(self, turn, cat, name, duration, correlation, **args):
        """Work begins a little behind its call, and behind what runs."""
        start = max(self.device_end, self.now + self.rng.randint(1, 5) * US)
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": start,
                            "dur": duration, "args": {"device": 0, "stream": 7,
                                                      "correlation": correlation, **args}})
        self.device_end = start + duration
        turn["work"].append((start, duration, cat == "kernel", "graph node id" in args))

    def kernel_ns(self, turn):
        """Of one of three kernels a layer: products take longer for more tokens."""
        tokens = turn["it"]["prompt_tokens"] + turn["it"]["decode_tokens"]
        return self.rng.randint(*self.kernel_us) * US + 20 * tokens + self.rng.randrange(1000)

    def names(self, size=None):
        """Of the kernels of an iteration; those of a graph may say for what size it is."""
        gemm = GEMM + (f"_m{size}" if size and self.names_sizes else "")
        layer = [gemm, "flash_fwd_splitkv_kernel", "fused_add_rms_norm_kernel"]
        if self.dequantizes:
            layer.insert(0, "void vllm::awq::dequantize_weights(int*, __half*, int*, __half*)")
        return layer * self.layers

    def kernels(self, turn):
        return [(name, self.kernel_ns(turn)) for name in self.names(turn["it"]["graph"])]

    def launch_graph(self, turn, size):
        correlation = self.call("cudaGraphLaunch", self.rng.randint(10, 20) * US)
        kernels = self.kernels(turn)
        lost = None
        if self.loses and self.rng.random() < 0.3:
            lost = self.rng.randrange(len(kernels))
        turn["replayed"] = []
        for node, (name, duration) in enumerate(kernels):
            if node == lost:
                continue
            grid = {"grid": [4 * size, 1, 1], "block": [128, 1, 1]} if self.has_grids else {}
            self.device(turn, "kernel", name, duration, correlation,
                        **{"graph id": size, "graph node id": node + 1}, **grid)
            turn["replayed"].append((name, duration))

    def launch(self, turn):
        if turn["it"]["graph"]:
            self.launch_graph(turn, turn["it"]["graph"])
            return
        for name, duration in self.kernels(turn):
            correlation = self.call("cudaLaunchKernel", self.rng.randint(4, 9) * US)
            self.device(turn, "kernel", name, duration, correlation)
            self.now += self.rng.randint(0, 4) * US

    def turn(self, it, form, overlaps, gap_us):
        name, said = FORMS[form](it)
        turn = {"it": it, "said": said, "start": self.now, "work": [], "forward": None}
        self.host("prepare", self.rng.randint(3, 10) * US)
        correlation = self.call("cudaMemcpyAsync", 3 * US)
        self.device(turn, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 2 * US, correlation,
                    bytes=4096)
        if self.functions and it["phase"] != "idle":  # a kernel that is none of the model's
            correlation = self.call("cudaLaunchKernel", 4 * US)
            self.device(turn, "kernel", "vectorized_elementwise_kernel", 2 * US, correlation)
            self.host("prepare", self.rng.randint(1, 20) * US)
        if it["phase"] != "idle":
            before = len(turn["work"])
            self.launch(turn)
            turn["forward"] = turn["work"][before][0]
            self.host("sample", self.rng.randint(1, 8) * US)
        if not overlaps and self.device_end > self.now:
            self.call("cudaStreamSynchronize", self.device_end + 2 * US - self.now)
        self.now += self.rng.randint(1, 5) * US
        turn["mark_end"] = self.now
        self.add("user_annotation", name, turn["start"], self.now - turn["start"])
        if it["phase"] == "speculative" and form == "sglang":  # the draft model's turn
            self.add("user_annotation", f"step[DRAFT_EXTEND bs={it['decodes']}]", self.now + 100,
                     20 * US)
            self.now += 21 * US
        if it["phase"] == "prefill" and form == "sglang" and it.get("has_draft"):
            self.add("user_annotation", name, self.now + 100, 20 * US)
            self.now += 21 * US
        self.host("output", self.rng.randint(0, gap_us * 4) * US // 10)
        self.now += gap_us * US // 10
        self.host("schedule", self.rng.randint(0, gap_us * 5) * US // 10)
        self.now += self.rng.randrange(1000)
        return turn


def simulate(rng, plan, form, overlaps=False, gap_us=30, has_stacks=False, of_graphs=(), **sizes):
    """The trace, and the turns of the truth; of_graphs: what a Trace may do."""
    trace, turns = Trace(rng, **sizes), []
    for trait in of_graphs:
        setattr(trace, trait, True)
    if has_stacks:
        trace.functions = FUNCTIONS[form.split("_")[0]]
    for it in plan:
        if overlaps and len(turns) > 1:  # one iteration ahead
            before = max((start + ns for start, ns, _, _ in turns[-2]["work"]), default=0)
            trace.now = max(trace.now, before)
        turns.append(trace.turn(it, form, overlaps, gap_us))
    return trace, turns


# ---- what is true

def quantile(numbers, percent):
    """Linear between neighbours, halves up, in whole ns."""
    numbers = sorted(numbers)
    if not numbers:
        return None
    place = (len(numbers) - 1) * percent
    low, part = place // 100, place % 100
    if part == 0:
        return numbers[low]
    return numbers[low] + ((numbers[low + 1] - numbers[low]) * part + 50) // 100


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers and None not in numbers else None


def ratio(part, whole):
    return part / whole if whole else None


def rounded_mean(total, count):
    return (2 * total + count) // (2 * count) if count else None


def phase_truth(turns, phase, all_ns):
    mine = [turn for turn in turns if turn["it"]["phase"] == phase]
    latencies = [turn["latency"] for turn in mine]
    tokens = {"prefill": lambda said: said["prompt_tokens"],
              "mixed": lambda said: None if None in (said["prompt_tokens"], said["decode_tokens"])
              else said["prompt_tokens"] + said["decode_tokens"]}.get(
                  phase, lambda said: said["decode_tokens"])
    counts = [tokens(turn["said"]) for turn in mine]
    truth = {"count": len(mine)}
    if not mine:
        return truth
    kernels = [(ns, graph) for turn in mine for _, ns, is_kernel, graph in turn["work"]
               if is_kernel]
    return {**truth, **{f"p{percent}_ns": quantile(latencies, percent) for percent in (50, 90, 99)},
            "time_ratio": ratio(sum(latencies), all_ns),
            "requests": mean([turn["it"]["prompts"] + turn["it"]["decodes"] for turn in mine]),
            "tokens": mean(counts),
            "tokens_per_second": None if phase == "speculative" or None in counts
            else sum(counts) * 1e9 / sum(latencies),
            "graph_ratio": ratio(sum(ns for ns, graph in kernels if graph),
                                 sum(ns for ns, _ in kernels))}


def interval_truth(turns):
    clear, delayed, before, is_delayed = [], [], None, False
    for turn in turns:
        is_delayed |= turn["it"]["phase"] in ("prefill", "mixed")
        if turn["it"]["phase"] in ("decode", "mixed", "speculative"):
            if before is not None:
                (delayed if is_delayed else clear).append(turn["end"] - before)
            before, is_delayed = turn["end"], False
    usual, both = quantile(clear, 50), clear + delayed
    excess = sum(max(0, ns - usual) for ns in delayed) if clear else None
    return {**{f"itl_p{percent}_ns": quantile(both, percent) for percent in (50, 90, 99)},
            "clear_itl_p50_ns": usual, "delayed_itl_p50_ns": quantile(delayed, 50),
            "delayed_count": len(delayed) if both else None,
            "prefill_delay_ratio": ratio(excess, sum(both)) if clear else None,
            "prefill_delay_ns": rounded_mean(excess, len(turns)) if clear else None}


def overlap(gaps, start, end):
    return sum(max(0, min(end, until) - max(start, since)) for since, until in gaps)


def host_truth(gaps, count, trace):
    """Of a mean iteration; what rounding leaves is of other work."""
    total = sum(until - since for since, until in gaps)
    if not trace.work_of_host or not total:
        return {f"{part}_ns": None for part in (*PARTS, "other")}
    parts = {part: sum(overlap(gaps, start, end) for start, end, of in trace.work_of_host
                       if of == part) // count for part in PARTS}
    return {"other_ns": rounded_mean(total, count) - sum(parts.values()),
            **{f"{part}_ns": ns for part, ns in parts.items()}}


def gap_truth(turns, trace):
    gaps, time, count = [], 0, 0
    for before, turn in zip(turns, turns[1:]):
        if turn["forward"] is not None:
            if turn["forward"] > before["device_until"]:
                gaps.append((before["device_until"], turn["forward"]))
            time += max(0, turn["end"] - before["device_until"])
            count += 1
    gap = sum(until - since for since, until in gaps)
    return {"host_gap_ns": rounded_mean(gap, count), "host_gap_ratio": ratio(gap, time),
            "host": host_truth(gaps, count, trace)}


def graph_truth(turns):
    decodes = [turn for turn in turns if turn["it"]["phase"] in ("decode", "speculative")]
    hits = [turn for turn in decodes if turn["it"]["graph"]]
    misses = [turn for turn in decodes if not turn["it"]["graph"]]
    kernels = [(ns, graph) for turn in decodes for _, ns, is_kernel, graph in turn["work"]
               if is_kernel]
    padded = [turn for turn in turns if turn["said"].get("padded")]
    return {"graph_coverage_ratio": ratio(sum(ns for ns, graph in kernels if graph),
                                          sum(ns for ns, _ in kernels)),
            "graph_hit_ratio": ratio(len(hits), len(decodes)),
            "graph_miss_count": len(misses) if decodes else None,
            "graph_max_requests": max((turn["it"]["decodes"] for turn in hits), default=None),
            "miss_min_requests": min((turn["it"]["decodes"] for turn in misses), default=None),
            "padding_ratio": ratio(sum(turn["said"]["padded"] - turn["it"]["decodes"]
                                       for turn in padded),
                                   sum(turn["said"]["padded"] for turn in padded))}


def latencies_by_size(turns):
    """Of each phase, and of each number of requests in it: how many, and the median latency."""
    sizes = {}
    for turn in turns:
        requests = turn["it"]["prompts"] + turn["it"]["decodes"]
        for size in (None, requests):
            sizes.setdefault((turn["it"]["phase"], size), []).append(turn["latency"])
    return {key: (len(numbers), quantile(numbers, 50)) for key, numbers in sizes.items()
            if key[0] != "idle"}


def truth_of(turns, form, trace):
    until = None
    for turn in turns:
        turn["end"] = max((start + ns for start, ns, _, _ in turn["work"]), default=turn["mark_end"])
        begin = turn["start"] if until is None else max(turn["start"], until)
        turn["latency"] = max(0, turn["end"] - begin)
        until = turn["device_until"] = turn["end"] if until is None else max(until, turn["end"])
    all_ns = sum(turn["latency"] for turn in turns)
    wall = max(turn["end"] for turn in turns[-1:]) if turns[-1]["work"] else turns[-1]["mark_end"]
    wall = max(wall, turns[-1]["mark_end"]) - turns[0]["start"]
    giving = [turn for turn in turns if turn["it"]["phase"] in ("decode", "mixed", "speculative")]
    unsaid = any(turn["it"]["phase"] == "speculative" or "decodes_said" in turn["said"]
                 for turn in turns)
    outputs = sum(turn["it"]["decodes"] for turn in giving)
    return {"engine": ENGINES.get(form, form.split("_")[0]), "iteration_count": len(turns),
            "idle_count": sum(turn["it"]["phase"] == "idle" for turn in turns),
            **{phase: phase_truth(turns, phase, all_ns)
               for phase in ("prefill", "decode", "mixed", "speculative")},
            **interval_truth(turns), **gap_truth(turns, trace), **graph_truth(turns),
            "kv_tokens": mean([turn["said"]["keys"] for turn in giving]),
            "output_tokens_per_second": outputs * 1e9 / wall if outputs and not unsaid else None}


# ---- files

def write_trace(events, rank=0):
    """µs with three decimals, as torch writes them: no float in between."""
    def us(ns):
        return f"{ns // 1000}.{ns % 1000:03d}"

    rows = []
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        head = {key: value for key, value in event.items() if key not in ("ts", "dur", "args")}
        args = f', "args": {json.dumps(event["args"])}' if "args" in event else ""
        rows.append(f'{json.dumps(head)[:-1]}, "ts": {us(event["ts"])}, "dur": {us(event["dur"])}'
                    f'{args}}}')
    head = {"schemaVersion": 1, "baseTimeNanoseconds": 1767189312000000000,
            "distributedInfo": {"rank": rank, "world_size": 1},
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]}
    return json.dumps(head)[:-1] + ', "traceEvents": [\n' + ",\n".join(rows) + "\n]}\n"


def capture(rng, size, layers=3):
    """The capture of a decode graph: its kernels are launched, and do not run."""
    trace = Trace(rng, layers)
    start = trace.now
    turn = {"it": iteration(0, (), size), "work": []}
    trace.call("cudaStreamBeginCapture", 5 * US)
    for _ in trace.kernels(turn):
        trace.call("cudaLaunchKernel", 6 * US)
    trace.call("cudaStreamEndCapture", 8 * US)
    trace.call("cudaGraphInstantiate", 300 * US)
    trace.add("user_annotation", f"capture_{size}_DECODE", start, trace.now - start)
    return trace.events


def random_turns(seed):
    """The text of a trace, its turns with their latencies, and the truth."""
    rng = random.Random(seed)
    form = rng.choice(sorted(FORMS))
    graphs = rng.choice(((), (4, 8), (1, 2, 4, 8, 16, 32)))
    plan = random_plan(rng, form, graphs)
    trace, turns = simulate(rng, plan, form, rng.random() < 0.5, rng.choice((5, 40, 200)),
                            rng.random() < 0.6, layers=rng.randint(1, 4))
    return write_trace(trace.events), turns, truth_of(turns, form, trace)


def random_trace(seed):
    text, _, truth = random_turns(seed)
    return text, truth


def main():
    folder, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    trace, truth = random_trace(seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trace.json").write_text(trace)
    (folder / "truth.json").write_text(json.dumps(truth, indent=1))


if __name__ == "__main__":
    main()
