#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures of memray as random programs would have left them behind, in every format from 7 to 13,
with what is known of them: the operations themselves, each with its stack.

usage: make_memray.py SEED FILE        writes the capture of that seed
       make_memray.py --check [COUNT]  reads such captures back with memray_reader.py
"""
import collections
import gzip
import pathlib
import random
import struct
import sys
import tempfile
import types

import memray_figures
import memray_reader
from memray_reader import Aggregate, Operation, Resident
from memray_writers import AggregateWriter, ByteWriter, TokenWriter, text

VERSIONS = tuple(range(7, 14))
SIMPLE = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "valloc",
          "pvalloc", "pymalloc_malloc", "pymalloc_calloc", "pymalloc_realloc")
PYTHONS = (0x030806f0, 0x030912f0, 0x030a04f0, 0x030b02f0, 0x030d05f0)
PAGE = 4096
LZ4_HEAD, LZ4_BLOCK = b"\x04\x22\x4d\x18\x40\x40\xc0", 1 << 16
NO_LINE = None


# ---- code and its line tables ---------------------------------------------------------------


class Code:
    """A function: ranges of instructions, each of a line. Ranges are in units of two bytes."""

    def __init__(self, rng, number):
        self.function = rng.choice(("load", "step", "<lambda>", "größe", "__init__")) + str(number)
        self.file = f"/job/{rng.choice(('a', 'b c', 'pkg/d'))}.py"
        self.first_line = rng.choice((1, 7, 300, 70000))
        self.ranges, line = [], self.first_line
        for _ in range(rng.randint(1, 9)):
            line = max(1, line + rng.choice((0, 1, 1, 2, 3, -1, -4, 90, 200, -150)))
            self.ranges.append((rng.choice((1, 2, 3, 8, 9, 140)), line))

    def without_some_lines(self, rng):
        self.ranges = [(units, NO_LINE if rng.random() < 0.1 else line)
                       for units, line in self.ranges]

    def place(self, rng, bytes_per_unit):
        """An offset, and its line."""
        if rng.random() < 0.02:
            return -1, self.first_line
        chosen = rng.randrange(len(self.ranges))
        units, line = self.ranges[chosen]
        before = sum(count for count, _ in self.ranges[:chosen])
        return bytes_per_unit * (before + rng.randrange(units)), line or 0

    def table(self, rng, python_version):
        minor = python_version >> 16
        if minor >= 0x30b:
            return self.table_of_311(rng)
        return self.table_of_310() if minor == 0x30a else self.table_of_39()

    def table_of_311(self, rng):
        out, before = bytearray(), self.first_line
        for units, line in self.ranges:
            while units:
                count = min(units, rng.randint(1, 8))
                out += self.entry_of_311(rng, count, line, before)
                before, units = line or before, units - count
        return bytes(out)

    @staticmethod
    def entry_of_311(rng, count, line, before):
        if line is NO_LINE:
            return bytes([0x80 | 15 << 3 | count - 1])
        delta = line - before
        codes = [13, 14] + ([10 + delta] if 0 <= delta <= 2 else []) + (
            [rng.randrange(10)] if delta == 0 else [])
        code = rng.choice(codes)
        out = bytes([0x80 | code << 3 | count - 1])
        if code < 13:
            return out + bytes(rng.randrange(128) for _ in range(2 if code >= 10 else 1))
        out += small_varint((-delta << 1) | 1 if delta < 0 else delta << 1)
        return out + b"".join(small_varint(rng.randrange(200)) for _ in range(3 * (code == 14)))

    def table_of_310(self):
        out, before = bytearray(), self.first_line
        for units, line in self.ranges:
            delta = 0 if line is NO_LINE else line - before
            while abs(delta) > 100:
                out += struct.pack("Bb", 0, 100 if delta > 0 else -100)
                delta -= 100 if delta > 0 else -100
            size = 2 * units
            while size:
                count = min(size, 254)
                out += struct.pack("Bb", count, -128 if line is NO_LINE else delta)
                size, delta = size - count, 0
            before = line or before
        return bytes(out)

    def table_of_39(self):
        """Pairs stand between the ranges."""
        out, before, size = bytearray(), self.first_line, 0
        for units, line in self.ranges:
            delta = line - before
            while size > 255:
                out += b"\xff\0"
                size -= 255
            while abs(delta) > 100:
                out += struct.pack("Bb", size, 100 if delta > 0 else -100)
                size, delta = 0, delta - (100 if delta > 0 else -100)
            if delta or size:
                out += struct.pack("Bb", size, delta)
            size, before = 2 * units, line
        return bytes(out)


def small_varint(value):
    out = bytearray()
    while value > 63:
        out.append(value & 63 | 64)
        value >>= 6
    return bytes(out) + bytes([value])


# ---- the program ----------------------------------------------------------------------------


class Program:
    """Runs at random and notes events: ("push", code, offset, line), ("pop", n), ("operation",
    Operation), ("switch", tid), ("name", words), ("rss", ms, bytes)."""

    def __init__(self, rng, python_version):
        self.rng, self.events, self.ms = rng, [], 0
        has_lines_missing = python_version >= 0x030a0000
        self.bytes_per_unit = 1 if python_version >> 16 == 0x030a else 2
        self.looks = rng.choice((1, 1, 20))  # at the resident memory, weight
        self.codes = [Code(rng, number) for number in range(rng.randint(1, 12))]
        for code in self.codes if has_lines_missing else ():
            code.without_some_lines(rng)
        self.threads = rng.sample((1, 2, 0x7f00aa01, 1 << 63, 77), rng.randint(1, 4))
        self.stacks = {tid: [] for tid in self.threads}
        self.names = {}
        self.tid = self.threads[0]
        self.base = rng.choice((0x1000, 0x7f0000000000, 0xffff800000000000))
        self.live, self.mapped = [], []
        self.events.append(("switch", self.tid))
        for _ in range(rng.choice((0, 5, 60, 300))):
            self.act()

    def act(self):
        rng = self.rng
        actions = ((self.push, 6), (self.pop, 4), (self.allocate, 8), (self.free, 6),
                   (self.temporary, 2), (self.map, 2), (self.unmap, 2), (self.resident, self.looks),
                   (self.switch, 2), (self.name, 1), (self.reallocate, 1))
        rng.choices([action for action, _ in actions], [weight for _, weight in actions])[0]()

    def operation(self, allocator, address, size):
        stack = tuple(self.stacks[self.tid])
        self.events.append(("operation", Operation(allocator, address, size, self.tid, stack)))

    def push(self):
        code = self.rng.choice(self.codes)
        offset, line = code.place(self.rng, self.bytes_per_unit)
        self.stacks[self.tid].append((code.function, code.file, line))
        self.events.append(("push", code, offset, line))

    def pop(self):
        depth = len(self.stacks[self.tid])
        if depth:
            count = self.rng.randint(1, min(depth, self.rng.choice((1, 20))))
            del self.stacks[self.tid][-count:]
            while count:
                part = min(count, 16)
                self.events.append(("pop", part))
                count -= part

    def size(self):
        return self.rng.choice((0, 1, 16, 511, 512, 513, 4096, 1 << 33,
                                self.rng.randrange(1 << 20)))

    def allocate(self):
        rng = self.rng
        if rng.random() < 0.05 and self.live:
            address = rng.choice(self.live)  # its free was missed
        else:
            address = self.base + 8 * rng.randrange(1 << 20)
            self.live.append(address)
        self.operation(rng.choice(SIMPLE), address, self.size())

    def free(self):
        rng = self.rng
        if rng.random() < 0.05:
            address = self.base + (1 << 30) + 8 * rng.randrange(1 << 10)
        elif self.live:
            address = self.live.pop(rng.randrange(len(self.live)))
        else:
            return
        self.operation(rng.choice(("free", "pymalloc_free")), address, 0)

    def temporary(self):
        self.allocate()
        if self.rng.random() < 0.3:
            self.switch()
        if self.live:
            self.operation("free", self.live.pop(), 0)

    def reallocate(self):
        if self.live:
            self.operation("free", self.live[-1], 0)
            self.operation("realloc", self.live[-1], self.size())

    def map(self):
        start = self.base + (1 << 31) + PAGE * self.rng.randrange(64)
        size = PAGE * self.rng.randint(1, 16)
        if self.rng.random() < 0.9 and any(a < start + size and start < b for a, b in self.mapped):
            return  # rarely a mapping lies over another one
        self.mapped.append((start, start + size))
        self.operation("mmap", start, size)

    def unmap(self):
        rng = self.rng
        start = self.base + (1 << 31) + PAGE * rng.randrange(64)
        end = start + PAGE * rng.randint(1, 40)
        if self.mapped and rng.random() < 0.6:
            start, end = self.mapped.pop(rng.randrange(len(self.mapped)))
        self.operation("munmap", start, end - start)

    def resident(self):
        self.ms += self.rng.choice((1, 10, 10, 250))
        self.events.append(("rss", self.ms, self.rng.randrange(1 << 34)))

    def switch(self):
        self.tid = self.rng.choice(self.threads)
        self.events.append(("switch", self.tid))

    def name(self):
        if self.tid not in self.names:
            self.names[self.tid] = f"worker {len(self.names)}"
            self.events.append(("name", self.names[self.tid]))


# ---- captures -------------------------------------------------------------------------------


def make_plan(rng):
    version = rng.choice(VERSIONS)
    python_version = rng.choice(PYTHONS) if version >= 12 else 0
    return {
        "version": version, "python_version": python_version,
        "is_aggregated": version >= 10 and rng.random() < 0.3,
        "has_native_stacks": rng.random() < 0.3, "start_ms": 1790000000000,
        "capture_ms": rng.choice((0, 1, 700, 12345)),
        "command": rng.choice(("", "train.py --a 'b'")),
        "pid": rng.randrange(1, 1 << 22), "traces_python_allocators":
        version >= 11 and rng.random() < 0.5, "tracks_lifetimes": version >= 12 and
        rng.random() < 0.3, "padding": rng.choice((0, 1, 4000, 100000)),
        "container": rng.choice(("plain", "plain", "plain", "lz4", "gzip")),
        "is_killed": rng.random() < 0.25, "is_cut": rng.random() < 0.3,
    }


def header_bytes(rng, plan, record_count):
    version, is_killed = plan["version"], plan["is_killed"]
    out = memray_reader.MAGIC + struct.pack("<i", version)
    out += struct.pack("<i", plan["python_version"]) if version >= 12 else b""
    out += bytes([plan["has_native_stacks"]])
    out += bytes([plan["is_aggregated"]]) if version >= 10 else b""
    end_ms = 0 if is_killed else plan["start_ms"] + plan["capture_ms"]
    out += struct.pack("<QQqq", 0 if is_killed else record_count, 0, plan["start_ms"], end_ms)
    out += text(plan["command"]) + struct.pack("<i", plan["pid"])
    out += struct.pack("<QQ", 1, 0) if version >= 9 else b""
    out += struct.pack("<i" if version == 7 else "<B", rng.randint(1, 4))
    out += bytes([plan["traces_python_allocators"]]) if version >= 11 else b""
    out += bytes([plan["tracks_lifetimes"]]) if version >= 12 else b""
    if version >= 13:
        out += text("/usr/lib") + text("/usr/site") + b"\0" + text("/job") + text("/tmp") + b"\0"
    return out


def aggregates_of(program):
    """Sums by thread, allocator and stack (with its places, which the file needs)."""
    operations, places, stacks = [], [], collections.defaultdict(list)
    tid = None
    for event in program.events:
        if event[0] == "switch":
            tid = event[1]
        elif event[0] == "push":
            stacks[tid].append(event[1:])
        elif event[0] == "pop":
            del stacks[tid][-event[1]:]
        elif event[0] == "operation":
            operations.append(event[1])
            places.append(tuple(stacks[tid]))
    at_peak, at_end, _ = memray_figures.moments(operations)
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for shift, pieces in enumerate((at_peak, at_end)):
        for index, size in pieces:
            row = sums[operations[index].tid, operations[index].allocator, places[index]]
            row[shift] += 1
            row[2 + shift] += size
    return [(Aggregate(tid, allocator, tuple((code.function, code.file, line)
                                             for code, _, line in stack), *row), stack)
            for (tid, allocator, stack), row in sums.items()]


def write_aggregated(rng, plan, program):
    """The records, and the truth."""
    writer = AggregateWriter(rng, plan)
    aggregates = aggregates_of(program)
    kept = [event for event in program.events if event[0] in ("rss", "switch", "name")]
    for event in kept:
        writer.write(event)
    for one, places in aggregates:
        writer.aggregate(one, places)
    for _ in range(rng.randrange(3) if plan["tracks_lifetimes"] else 0):
        writer.surviving()
    writer.trailer()
    return bytes(writer.out), truth_of(plan, kept, [one for one, _ in aggregates], True)


def write_streamed(rng, plan, program):
    """The records, and the truth: of a cut file, that of the records that are whole."""
    writer = (TokenWriter if plan["version"] < 12 else ByteWriter)(rng, plan)
    ends = []
    for event in program.events:
        writer.write(event)
        ends.append(len(writer.out))
    events, data = program.events, bytes(writer.out)
    if plan["is_killed"]:
        if plan["is_cut"] and events:
            count = rng.randrange(len(events))
            events, data = events[:count], data[:ends[count] - 1]
        return data, truth_of(plan, events, [], False)
    writer.trailer()
    return bytes(writer.out), truth_of(plan, events, [], True)


def truth_of(plan, events, aggregates, is_complete):
    """What memray_reader.Capture should hold."""
    names, resident, tid, count = {}, [], 0, 0
    end_ms = 0 if plan["is_killed"] else plan["start_ms"] + plan["capture_ms"]
    for event in events:
        if event[0] == "switch":
            tid = event[1]
        elif event[0] == "name":
            names[tid] = event[1]
        elif event[0] == "rss":
            resident.append(Resident(*event[1:], count))
        count += event[0] == "operation"
    return types.SimpleNamespace(
        header={**plan, "end_ms": end_ms},
        operations=[event[1] for event in events if event[0] == "operation"],
        aggregates=aggregates, resident=resident, thread_names=names, ends_well=lambda: is_complete)


def contained(data, container):
    if container == "gzip":
        return gzip.compress(data, 1)
    if container == "plain":
        return data
    blocks = [data[at:at + LZ4_BLOCK] for at in range(0, len(data), LZ4_BLOCK)]
    return LZ4_HEAD + b"".join(struct.pack("<I", len(block) | 1 << 31) + block
                               for block in blocks) + bytes(4)


def make(seed):
    """The bytes of a capture, and the truth."""
    rng = random.Random(seed)
    plan = make_plan(rng)
    if plan["is_aggregated"]:
        plan["is_killed"] = False  # then such a file is empty
    if plan["has_native_stacks"] and plan["is_killed"]:
        plan["is_cut"] = False  # a cut could fall between a native record and its operation
    program = Program(rng, plan["python_version"])
    write = write_aggregated if plan["is_aggregated"] else write_streamed
    records, truth = write(rng, plan, program)
    data = header_bytes(rng, plan, len(program.events)) + records
    if not (plan["is_killed"] and plan["is_cut"]):
        data += bytes(plan["padding"])
    return contained(data, plan["container"]), truth


def check(count):
    """memray_reader.py finds in a capture what it was made of."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rank0.bin"
        for seed in range(1, count + 1):
            data, truth = make(seed)
            path.write_bytes(data)
            found = memray_figures.figures(memray_reader.read(path))
            expected = memray_figures.figures(truth)
            for name in sorted(set(found) | set(expected)):
                if found.get(name) != expected.get(name):
                    print(f"seed {seed}: {name}: the truth is {expected.get(name)}, the reader "
                          f"says {found.get(name)}")
            bad += found != expected
    print(f"{count - bad} captures agree, {bad} differ")
    return 1 if bad else 0


def main():
    if sys.argv[1] == "--check":
        return check(int(sys.argv[2]) if len(sys.argv) > 2 else 300)
    data, _ = make(int(sys.argv[1]))
    pathlib.Path(sys.argv[2]).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
