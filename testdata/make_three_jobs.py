# SPDX-License-Identifier: MIT
"""The folder three_jobs: what one job of Composer, one of Lightning and one with pytscope's records
left behind, three runs that have nothing to do with each other. make.py writes it; README.md says
what each shows."""
import json
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/reference"))

import make_composer
import make_memory_files  # noqa: E402: found by the line above
import make_metrics
import make_runs

MIB = 1 << 20
STEPS = 40  # of each job, 0 to 39
STARTED = 1790857026  # Unix time
PROCESS, MAIN, AUTOGRAD, STREAM = 4242, 101, 102, 7


EXPERIMENT = "experiment_id: '0'\nlifecycle_stage: active\nname: Default\n"


# ---- Composer -------------------------------------------------------------------------------

TRACED = range(16, 24)  # the batches of the traces
BATCH_US = 10000        # from one to the next
AHEAD_US = {0: 0, 1: 3000}  # of the ranks' clocks


class Recording(make_composer.Recording):
    """On a clock of this job's own."""

    def add(self, phase, name, at, categories="", **fields):
        super().add(phase, name, at, categories, **fields)
        self.events[-1]["ts"] += AHEAD_US[self.rank] - make_composer.AHEAD[self.rank]


def composer_batch(record, number, at):
    """A tenth of the batch goes by before it trains, a fifth to a callback that draws images. The
    loader of rank 1 takes 300 longer; it waits that much less in its first backward pass."""
    late = 300 * record.rank
    record.batch = number
    record.span("dataloader/train", at + 100, at + 500 + late, "dataloader")
    record.begin("event/batch", at + 900 + late)
    record.begin("event/train_batch", at + 1000 + late)
    for start, end in ((at + 1050 + late, at + 3750), (at + 3850, at + 6550)):
        record.span("event/forward", start, start + 900)
        record.span("event/loss", start + 910, start + 960)
        record.span("event/backward", start + 970, end)
    record.end("event/train_batch", at + 7600)
    record.hook("algorithm", "GradientClipping", "after_train_batch", at + 7610, at + 7650)
    record.end("event/batch", at + 7700)
    record.hook("callback", "ImageVisualizer", "batch_end", at + 7750, at + 9750)
    record.hook("callback", "SpeedMonitor", "batch_end", at + 9760, at + 9800)


def composer_trace(rank):
    record = Recording(rank)
    record.batch = TRACED[0]
    make_composer.identity(record, 0)
    for event in record.events:  # the bounds of this job
        if event["name"] == "clock_sync_error_bound":
            event["args"]["value"] = 60 + 15 * rank
        if event["name"] == "clock_sync_timestamp_us":
            event["args"]["value"] += AHEAD_US[rank] - make_composer.AHEAD[rank]
    jitter, at = make_runs.noise(41), 1000  # both ranks wait for each other
    for number in TRACED:
        composer_batch(record, number, at)
        at += BATCH_US + round(100 * next(jitter))
    record.counter("cpu", "cpu", 2000, cpu_percent=35.0)
    record.counter("cpu", "cpu", 42000, cpu_percent=45.0)
    order = sorted(range(len(record.events)), key=lambda i: (record.events[i]["ts"], i))
    return make_composer.document([record.events[i] for i in order], rank == 0)


def composer_points():
    jitter = make_runs.noise(31)
    for step in range(STEPS):
        yield step, "loss/train/total", round(7.0 * 0.96 ** step + 0.01 * next(jitter), 6)
        yield step, "lr-DecoupledAdamW/group0", round(0.0006 * min(1, (step + 1) / 10), 9)
        if step >= 8:  # its window has to be full
            yield step, "throughput/batches_per_sec", round(100 + next(jitter), 3)


def composer():
    files = {f"composer/traces/ep0-ba{TRACED[-1] + 1}-rank{rank}.json": composer_trace(rank)
             for rank in AHEAD_US}
    metrics = {}
    for step, name, value in composer_points():
        metrics.setdefault(name, []).append((step, value))
    store = make_metrics.mlflow_run(metrics, {"optimizer": "DecoupledAdamW"}, "4f2c" * 8, "mosaic")
    return {**files, "composer/mlruns/0/meta.yaml": EXPERIMENT,
            **{f"composer/mlruns/0/{name}": data for name, data in store.items()}}


# ---- Lightning ------------------------------------------------------------------------------

VERSION = "lightning/lightning_logs/version_0"
PROFILED = range(20, 26)  # the steps of the trace
STEP_US = 8000
GEMM = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"
ADAM = "void at::native::multi_tensor_apply_kernel<at::native::TensorListMetadata<4> >(int)"


def lightning_points():
    """The loss falls for a while, blows up with the gradient from step 33 on, and is gone in 36."""
    jitter = make_runs.noise(57)
    for step in range(STEPS):
        loss = round(2.3 * 0.97 ** step + 0.005 * next(jitter), 6)
        norm = round(1.2 + 0.05 * next(jitter), 6)
        if step >= 33:
            loss, norm = round(loss * 8 ** (step - 32), 6), round(norm * 30 ** (step - 32), 6)
        if step >= 36:
            loss = norm = math.nan
        yield step, "lr-Adam", 0.01
        yield step, "grad_norm", norm
        yield step, "train_loss", loss
        if step in (19, 39):
            yield step, "val_loss", loss


def span(kind, name, tid, start, end, **args):
    return {"ph": "X", "cat": kind, "name": name, "pid": 0 if kind == "kernel" else PROCESS,
            "tid": tid, "ts": start, "dur": end - start, "args": args}


def annotation(name, start, end):
    return span("user_annotation", name, MAIN, start, end)


def lightning_step(number, at):
    """Lightning calls forward and backward within the optimizer's step."""
    pl = "[pl][profile][Strategy]SingleDeviceStrategy"
    yield annotation("[pl][profile][_TrainingEpochLoop].train_dataloader_next", at + 10, at + 410)
    yield annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 20,
                     at + 400)
    yield annotation("Optimizer.step#Adam.step", at + 450, at + 7000)
    yield annotation(f"{pl}.training_step", at + 500, at + 2500)
    yield annotation(f"{pl}.backward", at + 2600, at + 5800)
    yield span("cpu_op", "aten::linear", MAIN, at + 550, at + 650)
    yield span("cpu_op", "aten::item", MAIN, at + 6100, at + 6500)
    yield span("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", AUTOGRAD,
               at + 2700, at + 2900)
    yield span("cpu_op", "aten::_fused_adam_", MAIN, at + 6550, at + 6800)
    kernels = ((GEMM, MAIN, 560, 700, 2300), (GEMM, AUTOGRAD, 2750, 2900, 6000),
               (ADAM, MAIN, 6600, 6700, 7400))
    for index, (name, thread, launch, start, end) in enumerate(kernels):
        link = 10 * number + index + 1
        yield span("cuda_runtime", "cudaLaunchKernel", thread, at + launch, at + launch + 10,
                   correlation=link)
        yield span("kernel", name, STREAM, at + start, at + end, correlation=link, device=0,
                   stream=STREAM)
    yield span("cuda_runtime", "cudaStreamSynchronize", MAIN, at + 6110, at + 6490,
               correlation=10 * number + 9)


def lightning_trace(document):
    events = []
    for index, number in enumerate(PROFILED):
        at = 1000 + STEP_US * index
        events.append(annotation(f"ProfilerStep#{number}", at, at + STEP_US - 10))
        events += lightning_step(number, at)
    return document(events, {
        "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
        "Framework": "pytorch-lightning", "displayTimeUnit": "ms",
        "baseTimeNanoseconds": (STARTED + 20) * 10**9})


SUMMARY = """FIT Profiler Report
Profile stats for: [Strategy]SingleDeviceStrategy.training_step
-------------------------  ------------  ------------  ------------
                     Name    Self CPU %      Self CPU  # of Calls
-------------------------  ------------  ------------  ------------
             aten::linear        18.40%       600.0us             6
               aten::item        73.61%       2.400ms             6
-------------------------  ------------  ------------  ------------
Self CPU time total: 3.260ms
"""


def memory_statistics():
    """Two iterations, of which each leaves 4 MiB."""
    made = {}
    for iteration in (1, 2):
        for context, more in (("start", 0), ("end", 4)):
            live = 512 + 4 * (iteration - 1) + more
            made[f"0.training_step.{iteration}.{context}"] = {
                "allocated_bytes.all.current": live * MIB,
                "allocated_bytes.all.peak": (live + 900) * MIB,
                "reserved_bytes.all.current": 2048 * MIB, "reserved_bytes.all.peak": 2048 * MIB,
                "num_alloc_retries": 0, "num_ooms": 0, "rss": (3000 + 2 * iteration) * MIB}
    return make_memory_files.yaml_text(made)


def lightning_logs(points):
    """As two loggers write the same: a row or a record for each call."""
    events = [(STARTED + step, step, make_metrics.simple_value(name, value))
              for step, name, value in points]
    rows = [{"epoch": step // 20, "step": step, name: value} for step, name, value in points]
    return {f"{VERSION}/events.out.tfevents.{STARTED}.node1.{PROCESS}.0":
            make_metrics.event_file(events, STARTED),
            f"{VERSION}/metrics.csv": make_metrics.table(rows)}


def lightning(document):
    profiler = f"{VERSION}/fit-lightning_profiler-0"
    return {
        **lightning_logs(list(lightning_points())),
        f"{VERSION}/hparams.yaml": "batch_size: 64\nlr: 0.01\n",
        f"{profiler}[Strategy]SingleDeviceStrategy.training_step."
        f"{STARTED}123456789.pt.trace.json": lightning_trace(document),
        f"{profiler}.txt": SUMMARY,
        f"{VERSION}/memprofiler/rank_0_memory_stats.yaml": memory_statistics(),
    }


# ---- pytscope -------------------------------------------------------------------------------


def pytscope_rank(rank):
    """Rank 1 computes 12 % longer than rank 0, which waits for it in the all-reduce."""
    jitter, losses, lines = make_runs.noise(91 + rank), make_runs.noise(97), []
    for step in range(STEPS):
        slow = 1.12 if rank == 1 else 1.0
        compute = [slow * base * (1 + 0.005 * next(jitter)) for base in (18, 36, 4)]
        phases = dict(zip(("data", "forward", "backward", "optimizer", "comm"),
                          (1.5, *compute, 3 + (0 if rank == 1 else 0.12 * 58))))
        lines.append(make_runs.record(
            step, phases, {"loss": round(4.0 - 0.06 * step + 0.01 * next(losses), 6), "lr": 0.001},
            {"alloc": 900 * MIB, "reserved": 1000 * MIB, "peak_alloc": 960 * MIB,
             "peak_reserved": 1000 * MIB}))
    return "".join(lines)


def pytscope():
    files = {}
    for rank in range(2):
        files[f"pytscope/rank{rank}/steps.jsonl"] = pytscope_rank(rank)
        files[f"pytscope/rank{rank}/run.json"] = json.dumps({
            "name": "baseline", "config": {"batch": 64, "lr": 0.001}, "rank": rank,
            "world_size": 2, "environment": {"torch": "2.8.0"}, "started": float(STARTED),
            "wall_time": 2.7, "n_steps": STEPS}, indent=2) + "\n"
    return files


def files(document):
    """{name: bytes}; document(events, head) prints a trace."""
    made = {**composer(), **lightning(document), **pytscope()}
    return {f"three_jobs/{name}": data if isinstance(data, bytes) else data.encode()
            for name, data in made.items()}
