# SPDX-License-Identifier: MIT
"""What loggers leave of one job: Lightning's metrics.csv, a TensorBoard event file and an MLflow
file store; of another one the states that Hugging Face's Trainer saves. make.py writes them;
README.md says what is in them. Other scripts take the writers."""
import json
import struct

START_S = 1790857026          # when step 0 ends; a step takes half a second
STEP_S = 0.5
STEPS = range(40)
SPIKE = 30                    # the step whose loss jumps
RUN_ID = "5f0c2e9ab41d47e3a6c8d1f20b7e9354"


def loss(step):
    """From 4.5 down towards 2.5, as it is said everywhere: with five decimals."""
    return round(2.5 + 32 / (step + 16) + (3 if step == SPIKE else 0), 5)


def grad_norm(step):
    return 1.0 if step != SPIKE else 12.5


def learning_rate(step):
    """Ten steps of warm-up."""
    return round(0.0001 * min(step + 1, 10), 6)


# ---- tables ----

def table(rows):
    """Rows are dicts; the names of columns are sorted, as Lightning does."""
    names = sorted({name for row in rows for name in row})
    lines = [names] + [[row.get(name, "") for name in names] for row in rows]
    return "".join(",".join(str(cell) for cell in line) + "\n" for line in lines).encode()


def lightning():
    """A row for each call of the logger: two of a step, and a third where it validates."""
    rows = []
    for step in STEPS:
        epoch = step // 20
        rows.append({"epoch": epoch, "step": step, "train_loss": loss(step)})
        rows.append({"step": step, "lr-AdamW": learning_rate(step), "grad_norm": grad_norm(step)})
        if step % 20 == 19:
            rows.append({"epoch": epoch, "step": step, "val_loss": loss(step) + 0.25})
    return table(rows)


# ---- event files ----

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def checksum(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def record(data):
    length = struct.pack("<Q", len(data))
    return length + checksum(length) + data + checksum(data)


def varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """Of a message in protocol buffers: an int, a float (8 bytes), a text or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def single(number, value):
    """A float of 4 bytes."""
    return varint(number << 3 | 5) + struct.pack("<f", value)


def simple_value(tag, value):
    """A scalar as PyTorch writes it."""
    return field(1, field(1, tag) + single(2, value))


def tensor_value(tag, value, plugin="scalars"):
    """As TensorFlow 2 does."""
    tensor = field(1, 1) + field(2, b"") + field(5, struct.pack("<f", value))
    return field(1, field(1, tag) + field(9, field(1, field(1, plugin))) + field(8, tensor))


def histogram_value(tag):
    histogram = field(1, -1.0) + field(2, 1.0) + field(3, 2.0)
    return field(1, field(1, tag) + field(5, histogram))


def event(time_s, step, *values):
    """A step of 0 is not written."""
    number = field(2, step) if step else b""
    return record(field(1, float(time_s)) + number + field(5, b"".join(values)))


def event_file(events, start_s=START_S):
    """Events as (seconds, step, values of the kinds above)."""
    first = record(field(1, float(start_s)) + field(3, "brain.Event:2"))
    return first + b"".join(event(*each) for each in events)


def tensorboard():
    events = [(START_S, 0, tensor_value("_hparams_/session_start_info", 0.0, "hparams"))]
    for step in STEPS:
        at = START_S + STEP_S * step
        events.append((at, step, simple_value("train/loss", loss(step)),
                       simple_value("train/grad_norm", grad_norm(step))))
        events.append((at, step, simple_value("lr-AdamW", learning_rate(step))))
        events.append((at, step, tensor_value("samples_per_sec", 64 / STEP_S)))
        if step % 20 == 19:
            events.append((at, step, histogram_value("weights")))
    return event_file(events)


# ---- MLflow ----

def time_ms(step):
    return int((START_S + STEP_S * step) * 1000)


def metric(values):
    """(step, value) as lines of a metric's file."""
    return "".join(f"{time_ms(step)} {value} {step}\n" for step, value in values).encode()


def mlflow_run(metrics, params, run_id=RUN_ID, name="quick-fox"):
    """The files of a run below its experiment's folder."""
    end_ms = time_ms(STEPS[-1] + 1)
    meta = (f"artifact_uri: file:///job/mlruns/0/{run_id}/artifacts\nend_time: {end_ms}\n"
            f"entry_point_name: ''\nexperiment_id: '0'\nlifecycle_stage: active\nrun_id: {run_id}\n"
            f"run_name: {name}\nrun_uuid: {run_id}\nsource_name: ''\nsource_type: 4\n"
            f"source_version: ''\nstart_time: {time_ms(-1)}\nstatus: 3\ntags: []\nuser_id: user\n")
    return {
        f"{run_id}/meta.yaml": meta.encode(),
        f"{run_id}/tags/mlflow.runName": name.encode(),
        **{f"{run_id}/params/{key}": str(value).encode() for key, value in params.items()},
        **{f"{run_id}/metrics/{key}": metric(values) for key, values in metrics.items()},
    }


def mlflow():
    """fkat's figures every 5 steps; the sampler of the system counts its own samples."""
    every_fifth = [step for step in STEPS if step % 5 == 4]
    metrics = {
        "train/loss": [(step, loss(step)) for step in STEPS],
        "mfu": [(step, 0.125) for step in every_fifth],
        "actual_batches_per_sec": [(step, 1 / STEP_S) for step in every_fifth],
        "batch_flops": [(step, 4.0e14) for step in every_fifth],
        "system/cpu_utilization_percentage": [(sample, 50.0 + sample) for sample in range(3)],
    }
    return mlflow_run(metrics, {"batch_size": 32, "lr": 0.001, "optimizer": "AdamW"})


# ---- Hugging Face's Trainer ----

TRAINER_STEPS = range(10, 610, 10)


def trainer_loss(step):
    """Down until step 400, then up: the learning rate was too high."""
    return round(2.0 + 40 / (step + 16) + max(0, step - 400) * 0.02, 4)


def trainer_state(last):
    """The state at a step: a record every ten steps, and one of a validation every 300."""
    records = []
    for step in TRAINER_STEPS:
        if step > last:
            break
        epoch = step / 300
        records.append({"epoch": epoch, "grad_norm": 1.0 + step % 7 / 8, "learning_rate": 0.0005,
                        "loss": trainer_loss(step), "step": step})
        if step % 300 == 0:
            records.append({"epoch": epoch, "eval_loss": trainer_loss(step) + 0.25,
                            "eval_runtime": 4.5, "step": step})
    state = {"best_metric": None, "epoch": last / 300, "global_step": last,
             "is_world_process_zero": True, "log_history": records, "logging_steps": 10,
             "max_steps": 600, "num_train_epochs": 2, "trial_name": None}
    return (json.dumps(state, indent=2, sort_keys=True) + "\n").encode()


def files():
    log = "run_metrics/lightning_logs/version_0"
    return {
        f"{log}/metrics.csv": lightning(),
        f"{log}/hparams.yaml": b"lr: 0.001\n",
        f"{log}/events.out.tfevents.{START_S}.host.4242.0": tensorboard(),
        "run_trainer/checkpoint-300/trainer_state.json": trainer_state(300),
        "run_trainer/trainer_state.json": trainer_state(600),
        "run_metrics/mlruns/0/meta.yaml": b"experiment_id: '0'\nlifecycle_stage: active\n"
                                          b"name: Default\n",
        **{f"run_metrics/mlruns/0/{path}": data for path, data in mlflow().items()},
    }
