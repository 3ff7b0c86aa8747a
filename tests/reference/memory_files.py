#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads memory timelines of torch.profiler and the statistics of finetuning-scheduler by the
shortest way that is plainly right.

usage: memory_files.py FILE...          prints the figures as JSON
       memory_files.py --check [COUNT]  against the truth of generated files
"""
import collections
import json
import pathlib
import re
import sys

import seeds
import snapshot

CATEGORIES = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient",
              "autograd_detail", "unknown")
PREEXISTING, CREATE, INCREMENT_VERSION, DESTROY = 1, 2, 3, 4


class NotMemory(Exception):
    """Some other file."""


# ---- memory timelines -----------------------------------------------------------------------


def rows_of_raw(raw):
    """(time, bytes by category) after each run of rows with equal times."""
    times, sizes = [], []
    for time, _, size, category in raw:
        if not times or time != times[-1]:
            times.append(time)
            sizes.append(list(sizes[-1]) if sizes else [0] * 8)
        sizes[-1][category] += size
    earliest = min((t for t in times if t >= 0), default=-1)
    return [earliest if t < 0 else t for t in times], sizes


def curve_figures(times, sizes):
    sums = [sum(row) for row in sizes]
    at = sums.index(max(sums))
    return {"count": len(times), "start_time": times[0], "end_time": times[-1],
            "peak_bytes": sums[at], "peak_index": at, "peak_time": times[at],
            "peak_by_category": dict(zip(CATEGORIES, sizes[at])), "end_bytes": sums[-1],
            "end_by_category": dict(zip(CATEGORIES, sizes[-1])),
            "category_peaks": dict(zip(CATEGORIES, map(max, zip(*sizes))))}


def timeline_figures(document):
    if len(document) == 2 and document[1] and isinstance(document[1][0], list):
        times, sizes = document
        return {**curve_figures(times, [row[1:] for row in sizes]), "unit": "us"}
    counts = collections.Counter(row[1] for row in document)
    return {**curve_figures(*rows_of_raw(document)), "unit": "ns", "row_count": len(document),
            "preexisting_bytes": sum(row[2] for row in document if row[1] == PREEXISTING),
            "preexisting_count": counts[PREEXISTING], "created_count": counts[CREATE],
            "destroyed_count": counts[DESTROY], "changed_count": counts[INCREMENT_VERSION] // 2}


# ---- finetuning-scheduler's statistics ------------------------------------------------------

YAML_TAG = "!!python/object/apply:collections.defaultdict"
YAML_LINE = re.compile(r"( +)(?:(\? )|(: )|([^:]+|'[^']*'|\"[^\"]*\"):(?: |$))?(.*)")


def yaml_value(text):
    text = text.strip("'\"")
    if text in ("null", "~", ""):
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def stats_of_yaml(text):
    """The two-level mapping below dictitems."""
    stats, values, name = {}, {}, None
    for line in text.split("dictitems:", 1)[1].splitlines():
        match = YAML_LINE.fullmatch(line)
        if not match or line.strip() == "{}":
            continue
        indent, asks, answers, key, rest = match.groups()
        if len(indent) == 2:
            values = stats[key.strip("'\"")] = {}
        elif asks:
            name = rest.strip("'\"")
        elif answers:
            values[name] = yaml_value(rest)
        else:
            values[key.strip("'\"")] = yaml_value(rest)
    return stats


def split_key(key):
    """rank, function, iteration, context; the function may hold dots."""
    rank, rest = key.split(".", 1)
    function, iteration, context = rest.rsplit(".", 2)
    return int(rank), function, int(iteration), context


def stats_figures(stats):
    largest, calls = {}, {}
    for key, values in stats.items():
        rank, function, iteration, context = split_key(key)
        calls.setdefault((rank, function, iteration), {})[context] = values
        for name, value in values.items():
            if value is not None and value >= largest.get(name, value):
                largest[name] = value
    changes = [{"rank": rank, "function": function, "iteration": iteration,
                "change": {name: call["end"][name] - before
                           for name, before in sorted(call["start"].items())
                           if before is not None and call["end"].get(name) is not None}}
               for (rank, function, iteration), call in sorted(calls.items())
               if "start" in call and "end" in call]
    return {"snapshot_count": len(stats), "value_count": sum(len(v) for v in stats.values()),
            "ranks": sorted({key[0] for key in calls}), "largest": dict(sorted(largest.items())),
            "changes": changes}


# ---- memory trackers' tables ----------------------------------------------------------------

TITLE = re.compile(r"Iteration (\d+) (\S+) (Peak|Modulewise) FSDP memory stats")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
MEMBER = re.compile(r"_(?:FSDP|Mem)?(?:RefType|ModState)\.(\w+)")
# What the words of a member's name stand for.
TYPE_WORDS = {"ACT": "activation", "OPT": "optstate", "INP": "inputs", "OTH": "other"}
PLAIN_TYPE_WORDS = {"PARAM": "parameter", "GRAD": "gradient"}  # whole names of the plain tracker
STATE_WORDS = {"BEF": "Before ", "AFT": "After ", "PRE": "Pre-", "POST": "Post-", "PEAK": "Peak-",
               "FW": "Forward", "BW": "Backward", "AC": " AC"}


def type_name(text):
    """One name for both spellings of a kind of memory."""
    match = MEMBER.fullmatch(text)
    if not match:
        return text.lower()
    whole = PLAIN_TYPE_WORDS.get(match[1])
    return whole or " ".join(TYPE_WORDS.get(word, word.lower()) for word in match[1].split("_"))


def state_name(text):
    match = MEMBER.fullmatch(text)
    return "".join(map(STATE_WORDS.get, match[1].split("_"))) if match else text


def to_bytes(cell):
    value, unit = cell.split()
    return round(float(value) * UNITS[unit])


def plain_rows(lines):
    """Rows of the plain form."""
    module = state = call = None
    rows = []
    for line in lines:
        if line.startswith("\t"):
            name, cell = line.strip().split(": ")
            rows[-1]["bytes"][type_name(name)] = to_bytes(cell)
        elif line.startswith("Module:"):
            module = line.removeprefix("Module:").strip()
        elif line.startswith("# "):
            call = int(line[2:].rstrip(":"))
        elif line.startswith("Device: "):
            rows.append({"module": module, "state": state, "call": call,
                         "device": line.removeprefix("Device: "), "bytes": {}})
        elif line and line != "No memory tracked.":
            state = state_name(line)
    return rows


def table_rows(lines):
    """Rows of tables: three rules of '=' each, with the header and the rows between them; columns
    are as wide as the rules."""
    module, rule_count, spans, header, rows = None, 0, [], [], []
    for line in lines:
        if line.startswith("Module:"):
            module = line.removeprefix("Module:").strip()
        elif line.startswith("="):
            rule_count += 1
            spans = [match.span() for match in re.finditer("=+", line)]
        elif rule_count % 3:
            cells = [line[a:b].strip() for a, b in spans[:-1]] + [line[spans[-1][0]:].strip()]
            if rule_count % 3 == 1:
                header = cells
            else:
                rows.append(table_row(module, dict(zip(header, cells)), rows))
    return rows


def table_row(module, cells, rows):
    """A blank state (".." of tabulate) is that of the row above."""
    text = cells.pop("State & Call", None)
    state, call = None, None
    if text and text != "..":
        state, _, call = text.partition(" # ")
        state, call = state_name(state), int(call)
    elif text is not None:
        state, call = rows[-1]["state"], rows[-1]["call"]
    return {"module": module, "state": state, "call": call, "device": cells.pop("Device"),
            "bytes": {type_name(name): to_bytes(cell) for name, cell in cells.items()}}


def tracked_figures(text):
    lines, made = text.splitlines(), {"peak": {}, "modules": []}
    starts = [i for i, line in enumerate(lines) if TITLE.match(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        title = TITLE.match(lines[start])
        made.update(iteration=int(title[1]), function=title[2])
        body = [line for line in lines[start + 1:end] if line != "-" * 80]
        is_table = any(line.startswith("=") for line in body)
        rows = table_rows(body) if is_table else plain_rows(body)
        if title[3] == "Peak":
            made["peak"] = {row["device"]: row["bytes"] for row in rows}
        else:
            made["modules"] = rows
    return made


# ---- main -----------------------------------------------------------------------------------


def figures(path):
    """By what the file holds, not by its name."""
    data = snapshot.read_bytes(path)
    if data.startswith(b"["):
        return timeline_figures(json.loads(data))
    text = data.decode("latin-1")
    if text.startswith(YAML_TAG):
        return stats_figures(stats_of_yaml(data.decode()))
    if TITLE.match(text):
        return tracked_figures(data.decode())
    if "<img src='data:image/png" in text:
        raise NotMemory("a picture: export the timeline as .json")
    return stats_figures(snapshot.unpickle(data))


def check(seed, folder):
    import check_snapshot
    import make_memory_files
    for path, data, truth in make_memory_files.make(folder, seed):
        pathlib.Path(path).write_bytes(data)
        for place, expected, actual in check_snapshot.differences(truth, figures(path)):
            yield f"{path.name}: {place}: the truth is {expected}, the reader says {actual}"


def main():
    if sys.argv[1:2] == ["--check"]:
        return seeds.run(check, sys.argv[2:], 100)
    for path in sys.argv[1:]:
        print(json.dumps(figures(path), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
