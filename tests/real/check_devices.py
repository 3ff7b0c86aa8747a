#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every device that a trace of the shared folder names, with its units and memory, stands in the
list of tests/unit/test_device.c, which says the row of the table that it is.

usage: check_devices.py
"""
import json
import re
import sys

import program
import traces

UNIT_TEST = program.SOURCE_ROOT / "tests/unit/test_device.c"
DEVICES = re.compile(r'"deviceProperties"\s*:\s*\[')
CASE = re.compile(r'\{ ("(?:[^"\\]|\\.)*"), (\d+), (\d+),')


def devices_of(path):
    """Yields (name, units, memory) of each device that a file lists."""
    try:
        data = traces.read_bytes(path)[0]
    except (traces.NotATrace, OSError):
        return
    text = data.decode(errors="replace")
    for match in DEVICES.finditer(text):
        for device in traces.decode_elements(text, match.end())[0]:
            if isinstance(device, dict):
                yield (device.get("name", ""), traces.to_int(device.get("numSms")) or 0,
                       traces.to_int(device.get("totalGlobalMem")) or 0)


def listed_devices():
    """The list of the unit test. What C escapes in its strings, JSON does in the same way."""
    text = UNIT_TEST.read_text()
    start = text.index("real_devices[] = {")
    cases = CASE.findall(text[start:text.index("\n};", start)])
    return {(json.loads(name), int(units), int(memory)) for name, units, memory in cases}


def main():
    program.need(program.DATA)
    listed, found = listed_devices(), {}
    for path in sorted(program.DATA.rglob("*")):
        if path.is_file():
            for device in devices_of(path):
                found.setdefault(device, program.short(path))
    for device in sorted(found.keys() - listed):
        print(f"{device} of {found[device]} is not in real_devices[] of {UNIT_TEST.name}")
    for device in sorted(listed - found.keys()):
        print(f"{device} is in real_devices[] of {UNIT_TEST.name}, but in no trace")
    print(f"{len(found.keys() & listed)} devices are in both")
    return 0 if found and found.keys() == listed else 1


if __name__ == "__main__":
    sys.exit(main())
