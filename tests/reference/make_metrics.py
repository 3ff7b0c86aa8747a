#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Directories with metrics as loggers leave them behind: TensorBoard event files, Lightning's
metrics.csv, MLflow's file stores, step records; some damaged. With what is known of them.

usage: make_metrics.py SEED FOLDER   writes the directory of that seed
"""
import csv
import io
import json
import math
import pathlib
import random
import struct
import sys
import types

CRC_POLYNOMIAL = 0x82f63b78  # Castagnoli's, reflected
CRC_MASK = 0xa282ead8
# By role: names that convention knows. Each directory has one of each at most.
NAMES = {
    "loss": ("loss", "train_loss", "train/loss"), "grad_norm": ("grad_norm",),
    "learning_rate": ("lr", "learning_rate"), "mfu": ("mfu",),
}
OTHERS = ("val/accuracy", "system/gpu_0_utilization", "größe", "a b", "param.0/norm", "x")
SOURCES = ("tensorboard", "csv", "mlflow", "steps_jsonl")
WALL_S = 1790000000


# ---- TensorBoard ----------------------------------------------------------------------------


def crc32c(data):
    """Bit by bit."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (CRC_POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + CRC_MASK) & 0xffffffff


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, data):
    """A field of a message that has a length."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def event(wall_s, step, rest):
    steps = varint(2 << 3) + varint(step) if step else b""
    return b"\x09" + struct.pack("<d", wall_s) + steps + rest


def tensor(rng, value):
    """TensorFlow 2's scalars: a float in a list of floats, packed or not, or as bytes."""
    raw = struct.pack("<f", value)
    form = rng.randrange(3)
    content = (field(4, raw) if form == 0 else field(5, raw) if form == 1 else
               varint(5 << 3 | 5) + raw)
    return b"\x08\x01" + field(2, b"") + content


def summary_value(rng, tag, value, is_tensor):
    out = field(1, tag.encode())
    if not is_tensor:
        return out + varint(2 << 3 | 5) + struct.pack("<f", value)
    return out + field(8, tensor(rng, value)) + field(9, field(1, field(1, b"scalars")))


def histogram(tag):
    return field(1, tag.encode()) + field(5, b"\x09" + bytes(8))


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def tensorboard_bytes(rng, points):
    """The file, the points that can be read from it, and what it has to say of the rest. A record
    holds one step's values."""
    is_tensor = rng.random() < 0.3
    out, kept, index = bytearray(record(event(WALL_S, 0, field(3, b"brain.Event:2")))), [], 0
    said = {"broken records": 0, "no scalars": 0, "incomplete": 0}
    while index < len(points):
        count = rng.choice((1, 1, 2, 3))
        group = [one for one in points[index:index + count] if one[1] == points[index][1]]
        index += len(group)
        values = b"".join(field(1, summary_value(rng, name, value, is_tensor))
                          for name, _, value in group)
        has_histogram = rng.random() < 0.1
        if has_histogram:
            values += field(1, histogram("weights"))
        data = bytearray(record(event(WALL_S + index, group[0][1], field(5, values))))
        if rng.random() < 0.03:
            data[rng.randrange(12, len(data))] ^= 0x10  # the checksum no longer fits
            said["broken records"] += 1
        else:
            said["no scalars"] += has_histogram
            kept += [(name, step, as_float(value)) for name, step, value in group]
        out += data
    if rng.random() < 0.3:
        out += record(event(WALL_S, 7, b""))[:rng.randrange(1, 20)]
        said["incomplete"] = 1
    return bytes(out), kept, said


# ---- the others -----------------------------------------------------------------------------


def number_text(value):
    if math.isnan(value):
        return "nan"
    return repr(value) if math.isfinite(value) else "inf" if value > 0 else "-inf"


def csv_text(rng, points):
    """Lightning's table: columns by name, a row a call of the logger, most cells empty."""
    names = sorted({name for name, _, _ in points} | {"step", "epoch"})
    text = io.StringIO()
    table = csv.DictWriter(text, names, restval="", lineterminator="\n")
    table.writeheader()
    row = {}
    for name, step, value in points:
        if row and (row["step"] != step or name in row or rng.random() < 0.4):
            table.writerow(row)
            row = {}
        row.update({"step": step, "epoch": "", name: number_text(value)})
    if row:
        table.writerow(row)
    return text.getvalue(), points


def write_mlflow(rng, folder, points):
    """A run of a file store; values of a metric are not always in the order of steps."""
    run = folder / "mlruns" / "0" / f"{rng.randrange(1 << 128):032x}"
    (run / "metrics").mkdir(parents=True)
    (folder / "mlruns" / "0" / "meta.yaml").write_text("experiment_id: '0'\nname: Default\n")
    (run / "meta.yaml").write_text(
        f"artifact_uri: file:///x\nend_time: null\nrun_id: {run.name}\nstatus: 1\n")
    (run / "params").mkdir()
    (run / "params" / "lr").write_text("0.1")
    names = dict.fromkeys(name for name, _, _ in points)
    for name in names:
        lines = [f"{1000 * WALL_S + index} {number_text(value)} {step}"
                 for index, (other, step, value) in enumerate(points) if other == name]
        path = run / "metrics" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    # MLflow numbers the samples that it takes of the system, not the steps in which it does.
    return [one for one in points if not one[0].startswith("system/")]


def write_steps(rng, folder, points):
    """Step records: one line a step, later ones of a step continue the file."""
    lines, row = [], None
    for name, step, value in sorted(points, key=lambda one: one[1]):
        if row is None or row["step"] != step:
            row = {"step": step, "phases": {"forward": 0.01}, "scalars": {}}
            lines.append(row)
        row["scalars"][name] = value
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "steps.jsonl").write_text(text + ('{"step": 99' if rng.random() < 0.1 else ""))
    return points


# ---- directories ----------------------------------------------------------------------------


def value_of(rng, role, index):
    if rng.random() < 0.02:
        return rng.choice((math.nan, math.inf, -math.inf))
    if role == "loss":
        value = 2.5 * (1 - 0.004 * index) + 0.01 * rng.uniform(-1, 1)
        return value * (5 if rng.random() < 0.03 else 1)
    if role == "learning_rate":
        return 1e-3 / (1 + index)
    return rng.random() if role == "mfu" else rng.choice((rng.gauss(1, 0.1), 1e-30, -3.5, 1e30))


def make_points(rng):
    """(name, step, value) in the order in which they are logged, and the names by role."""
    roles = {role: rng.choice(names) for role, names in NAMES.items() if rng.random() < 0.7}
    names = list(roles.items()) + [("", name) for name in rng.sample(OTHERS, rng.randrange(4))]
    if not names:
        names = [("", "x")]
    steps = [rng.choice((0, 10)) + rng.choice((1, 1, 5)) * index
             for index in range(rng.choice((1, 3, 12, 60)))]
    steps = sorted(set(steps))
    every = {name: rng.choice((1, 1, 2)) for _, name in names}
    if rng.random() < 0.2:
        steps += steps[len(steps) // 2:]  # resumed: these steps are logged again
    points = [(name, step, value_of(rng, role, index)) for index, step in enumerate(steps)
              for role, name in names if index % every[name] == 0]
    return points, roles


def write(rng, folder, source, points):
    """Writes the files of a source. Returns the points that can be read from them, and what is to
    be said of the rest."""
    if source == "mlflow":
        return write_mlflow(rng, folder, points), {}
    if source == "steps_jsonl":
        return write_steps(rng, folder, points), {}
    said = {}
    if source == "tensorboard":
        data, kept, said = tensorboard_bytes(rng, points)
        path = folder / "logs" / f"events.out.tfevents.{WALL_S}.host.123.0"
    else:
        text, kept = csv_text(rng, points)
        data = text.encode()
        path = folder / "lightning_logs" / "version_0" / "metrics.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return kept, said


def divided(rng, points):
    """The points of the job's own records, and those of a logger beside them: some are in both,
    some steps in the logger's only."""
    names = sorted({name for name, _, _ in points})
    whose = {name: rng.choice(("own", "other", "both")) for name in names}
    last = max(step for _, step, _ in points)
    own = [one for one in points if whose[one[0]] != "other" and one[1] < last]
    return own, [one for one in points if whose[one[0]] != "own"]


def make(seed, folder):
    """Writes a directory. Returns (source, points that can be read from it) of each, the job's own
    records first; what is to be said of the rest; names by role; and options that tell of them."""
    rng = random.Random(seed)
    folder = pathlib.Path(folder)
    points, roles = make_points(rng)
    options = []
    if "loss" in roles and rng.random() < 0.2:
        points = [("my/objective" if name == roles["loss"] else name, step, value)
                  for name, step, value in points]
        roles["loss"] = "my/objective"
        options = ["--scalar", "loss=my/objective"]
    source = rng.choice(SOURCES)
    parts = [(source, points)]
    if source != "steps_jsonl" and rng.random() < 0.3:
        own, points = divided(rng, points)
        parts = [("steps_jsonl", own), (source, points)]
    written = [(one, *write(rng, folder, one, points)) for one, points in parts if points]
    return types.SimpleNamespace(parts=[(one, kept) for one, kept, _ in written],
                                 said={name: count for _, _, said in written
                                       for name, count in said.items()},
                                 roles=roles, options=options)


def main():
    make(int(sys.argv[1]), sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
