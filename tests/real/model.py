# SPDX-License-Identifier: MIT
"""The rows of tscope's trace model, as model_probe prints them: for figures by definitions that
other tools have and tscope has not.
"""
import collections
import json
import subprocess

DEVICE_KINDS = ("kernel", "comm", "memcpy", "memset")


class Row:
    """One span; kind is tscope's class, launch and op are rows. Times in ns."""
    __slots__ = ("start", "end", "name", "kind", "track", "device", "stream", "launch", "op")

    def __init__(self, line, track):
        self.start, self.end = line["start_ns"], line["start_ns"] + line["dur_ns"]
        self.name, self.kind, self.track = line["name"], line["class"], line["track"]
        self.device, self.stream = track["device"], track["stream"]
        self.launch, self.op = line["launch"], line["op"]

    @property
    def duration(self):
        return self.end - self.start


def read(probe, path):
    """All rows of a trace, by the program model_probe."""
    done = subprocess.run([str(probe), str(path)], stdout=subprocess.PIPE, check=True)
    lines = [json.loads(line) for line in
             done.stdout.decode("utf-8", errors="replace").split("\n") if line]
    tracks = [line for line in lines if "row" not in line]
    rows = [Row(line, tracks[line["track"]]) for line in lines if "row" in line]
    for row in rows:
        row.launch = rows[row.launch] if row.launch >= 0 else None
        row.op = rows[row.op] if row.op >= 0 else None
    return rows


def of_kinds(rows, *kinds):
    return [row for row in rows if row.kind in kinds]


def device_rows(rows):
    return of_kinds(rows, *DEVICE_KINDS)


def by_name(rows):
    """name → (count, total) of rows."""
    table = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        table[row.name][0] += 1
        table[row.name][1] += row.duration
    return {name: tuple(figures) for name, figures in table.items()}
