# SPDX-License-Identifier: MIT
"""Writes the records of captures of memray, in every format from 7 to 13."""
import collections
import struct

import memray_reader

CACHED_ADDRESSES = 15


# ---- numbers --------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def svarint(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def text(words):
    return words.encode() + b"\0"


# ---- records --------------------------------------------------------------------------------



class Writer:
    """What all forms share. Sub-classes write("push", …) and so on by the names of events."""

    def __init__(self, rng, plan):
        self.rng, self.plan, self.out = rng, plan, bytearray()
        self.last = collections.Counter()
        self.native_count = 0

    def delta(self, field, value):
        change = (value - self.last[field]) & memray_reader.MASK
        self.last[field] = value
        return svarint(change - (1 << 64) if change >> 63 else change)

    def write(self, event):
        if self.plan["has_native_stacks"] and self.rng.random() < 0.3:
            self.native()
        getattr(self, event[0])(*event[1:])

    def native(self):
        self.native_count += 1
        self.out += b"\x05" + self.delta("ip", self.rng.randrange(1 << 48)) + self.delta(
            "native", self.rng.randrange(self.native_count))
        if self.rng.random() < 0.2:
            self.out += b"\x06\x07" + text("/lib/libc.so.6") + varint(2) + struct.pack(
                "<Q", 0x7f00) + 2 * (b"\x08" + struct.pack("<Q", 64) + varint(500))

    def native_id(self):
        return self.delta("native", self.rng.randint(0, self.native_count))

    def switch(self, tid):
        self.out += b"\x0c" + struct.pack("<Q", tid)

    def name(self, words):
        self.out += b"\x0a" + text(words)


class TokenWriter(Writer):
    """Formats 7 to 11."""

    def __init__(self, rng, plan):
        super().__init__(rng, plan)
        self.frames = {}

    def push(self, code, offset, line):
        frame = (code, line)
        if frame not in self.frames:
            number = self.frames[frame] = len(self.frames)
            flags = self.rng.randrange(2) if self.plan["version"] >= 9 else 0
            self.out += bytes([3 | flags << 4]) + self.delta("frame", number) + text(
                code.function) + text(code.file) + self.delta("line", line)
        self.out += b"\x04" + self.delta("frame", self.frames[frame])

    def pop(self, count):
        self.out.append(9 | count - 1 << 4)

    def operation(self, one):
        flags = memray_reader.ALLOCATORS.index(one.allocator) + 1 << 4
        frees = one.allocator in memray_reader.SIMPLE_FREES
        address = self.delta("address", one.address)
        if self.plan["has_native_stacks"] and not frees and self.rng.random() < 0.9:
            self.out += bytes([2 | flags]) + address + varint(one.size) + self.native_id()
        else:
            self.out += bytes([1 | flags]) + address + (b"" if frees else varint(one.size))

    def rss(self, ms, size):
        self.out += b"\x0b" + varint(size) + varint(ms)

    def trailer(self):
        self.out += b"\x10" if self.plan["version"] >= 8 else b""


class CodeWriter(Writer):
    """What formats 12 and 13 do alike in both forms."""

    def __init__(self, rng, plan):
        super().__init__(rng, plan)
        self.codes = {}

    def code(self, code):
        if code not in self.codes:
            number = self.codes[code] = self.rng.choice((0, 1000)) + len(self.codes)
            table = code.table(self.rng, self.plan["python_version"])
            self.out += b"\x0e" + varint(number) + text(code.function) + text(
                code.file) + self.delta("line", code.first_line) + varint(len(table)) + table
        return self.codes[code]


class ByteWriter(CodeWriter):
    """The streaming form of formats 12 and 13."""

    def __init__(self, rng, plan):
        super().__init__(rng, plan)
        self.cache = [0] * CACHED_ADDRESSES

    def write(self, event):
        if self.rng.random() < 0.02:
            self.out.append(0)  # filler
        if self.plan["tracks_lifetimes"] and self.rng.random() < 0.1:
            self.object_record()
        super().write(event)

    def address(self, address):
        """The index in the cache, and what follows."""
        if address in self.cache:
            return self.cache.index(address), b""
        self.cache = [address, *self.cache[:-1]]
        return CACHED_ADDRESSES, self.delta("address", address >> 3)

    def object_record(self):
        index, rest = self.address(8 * self.rng.randrange(1 << 40))
        created = self.rng.randrange(2)
        self.out += bytes([32 | index << 1 | created]) + rest
        if created and self.plan["has_native_stacks"]:
            self.out += self.native_id()

    def push(self, code, offset, line):
        number = self.code(code)
        self.out += bytes([64 | self.rng.randrange(2)]) + varint(number) + svarint(offset)

    def pop(self, count):
        self.out.append(16 | count - 1)

    def operation(self, one):
        number = memray_reader.ALLOCATORS_12.index(one.allocator) + 1
        index, rest = self.address(one.address)
        is_short = number < 8 and self.rng.random() < 0.9
        self.out += bytes([128 | index << 3 | (number if is_short else 0)]) + rest
        self.out += b"" if is_short else bytes([number])
        if one.allocator not in memray_reader.SIMPLE_FREES:
            self.out += self.native_id() if self.plan["has_native_stacks"] else b""
            self.out += varint(one.size)

    def rss(self, ms, size):
        self.out += b"\x02" + varint(size) + varint(ms)

    def trailer(self):
        self.out += b"\x01"


class AggregateWriter(CodeWriter):
    """The aggregated form: events are summed first, then written as their kinds come."""

    def __init__(self, rng, plan):
        super().__init__(rng, plan)
        self.is_new = plan["version"] >= 12
        self.frames, self.nodes = {}, {}

    def rss(self, ms, size):
        self.out += b"\x01" + struct.pack("<QQQ", self.plan["start_ms"] + ms, size, 0)

    def frame(self, code, offset, line):
        """The number of a frame, which is written at its first use."""
        key = (code, offset) if self.is_new else (code, line)
        if key in self.frames:
            return self.frames[key]
        number = self.frames[key] = 5 + 3 * len(self.frames)
        entry = bytes([self.rng.randrange(2)])
        if self.is_new:
            code_number = self.code(code)
            self.out += b"\x04" + varint(number) + varint(code_number) + svarint(offset) + entry
        else:
            self.out += b"\x04" + struct.pack("<Q", number) + text(code.function) + text(
                code.file) + struct.pack("<i", line) + entry
        return number

    def node(self, places):
        """The node of a stack of (code, offset, line)."""
        if not places:
            return 0
        if places not in self.nodes:
            parent, frame = self.node(places[:-1]), self.frame(*places[-1])
            self.nodes[places] = len(self.nodes) + 1
            self.out += b"\x03" + (varint(frame) + varint(parent) if self.is_new else
                                   struct.pack("<QI", frame, parent))
        return self.nodes[places]

    def aggregate(self, one, places):
        names = memray_reader.ALLOCATORS_12 if self.is_new else memray_reader.ALLOCATORS
        node = self.node(places)
        self.out += b"\x02" + struct.pack(
            "<QB7sQQQQQQQ", one.tid, names.index(one.allocator) + 1, self.rng.randbytes(7),
            self.rng.randrange(9), node, self.rng.randrange(3), one.peak_count, one.leaked_count,
            one.peak_bytes, one.leaked_bytes)

    def surviving(self):
        self.out += b"\x0d" + varint(self.rng.randrange(1 << 44))
        self.out += varint(3) if self.plan["has_native_stacks"] else b""

    def trailer(self):
        self.out += b"\x0f"
