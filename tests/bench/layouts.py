#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a trace again as other tools would have written it: the same events in other text.

usage: layouts.py LAYOUT SOURCE TARGET
"""
import json
import sys

# args first, name last: the opposite of what libkineto writes.
ORDER = ("args", "dur", "ts", "tid", "pid", "cat", "id", "bp", "s", "ph", "name")


def reordered(event):
    known = {key: event[key] for key in ORDER if key in event}
    return {**{key: value for key, value in event.items() if key not in known}, **known}


def write_indented(trace, file):
    json.dump(trace, file, indent=1)


def write_wide(trace, file):
    """As an editor formats it: four spaces, each number of a list on a line of its own."""
    json.dump(trace, file, indent=4)


def write_lines(trace, file):
    """One event a line."""
    events = trace.pop("traceEvents")
    file.write(json.dumps(trace)[:-1] + ', "traceEvents": [\n')
    file.write(",\n".join(map(json.dumps, events)))
    file.write("\n]}\n")


def write_reordered(trace, file):
    """The keys of each event in another order, and in that the events of libkineto's text."""
    events = trace.pop("traceEvents")
    file.write('{\n"traceEvents": [\n')
    for number, event in enumerate(map(reordered, events)):
        members = (f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in event.items())
        file.write(("," if number else "") + "\n  {\n" + ",\n".join(members) + "\n  }")
    file.write("\n],\n" + json.dumps(trace)[1:])


def write_compact(trace, file):
    json.dump(trace, file, separators=(",", ":"))


LAYOUTS = {"indented": write_indented, "wide": write_wide, "lines": write_lines,
           "reordered": write_reordered, "compact": write_compact}


def main():
    layout, source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        trace = json.load(file)
    with open(target, "w", encoding="utf-8") as file:
        LAYOUTS[layout](trace, file)


if __name__ == "__main__":
    main()
