# SPDX-License-Identifier: MIT
"""Reads captures of memray, formats 7 to 13, by the shortest way that is plainly right: the whole
file as a list of operations, each with its whole stack. memray_figures.py makes figures of it."""
import collections
import gzip
import pathlib
import struct

MAGIC = b"memray\0"
GZIP_MAGIC, LZ4_MAGIC = b"\x1f\x8b", b"\x04\x22\x4d\x18"
MASK = (1 << 64) - 1
# By the numbers of formats 7 to 11, and as they were renumbered in format 12; from 1.
ALLOCATORS = ("malloc", "free", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign",
              "valloc", "pvalloc", "mmap", "munmap", "pymalloc_malloc", "pymalloc_calloc",
              "pymalloc_realloc", "pymalloc_free")
ALLOCATORS_12 = ("pymalloc_free", "pymalloc_malloc", "pymalloc_calloc", "pymalloc_realloc", "free",
                 "malloc", "realloc", "calloc", "posix_memalign", "aligned_alloc", "memalign",
                 "valloc", "pvalloc", "mmap", "munmap")
SIMPLE_FREES = ("free", "pymalloc_free")
CACHED_ADDRESSES = 15

Operation = collections.namedtuple("Operation", "allocator address size tid stack")
Resident = collections.namedtuple("Resident", "ms size operation_count")  # so many came before it
Aggregate = collections.namedtuple(
    "Aggregate", "tid allocator stack peak_count leaked_count peak_bytes leaked_bytes")


class NotRead(Exception):
    """No capture, or of a version that is not read."""


class Cut(Exception):
    """The file ends within a record, or holds one that cannot be."""


# ---- bytes ----------------------------------------------------------------------------------


def lz4_length(data, at, nibble):
    """A length of which the token holds the begin; and where it ends."""
    total = nibble
    while nibble == 15:
        total += data[at]
        at += 1
        if data[at - 1] != 255:
            break
    return total, at


def lz4_block(data, out):
    """Appends what a compressed block stands for; matches reach back into out."""
    at = 0
    while at < len(data):
        token = data[at]
        count, at = lz4_length(data, at + 1, token >> 4)
        out += data[at:at + count]
        at += count
        if at >= len(data):
            return
        offset = int.from_bytes(data[at:at + 2], "little")
        count, at = lz4_length(data, at + 2, token & 15)
        for _ in range(count + 4):
            out.append(out[-offset])


def lz4_frame(data):
    flags = data[4]
    at = 7 + 8 * (flags >> 3 & 1) + 4 * (flags & 1)
    out = bytearray()
    while at + 4 <= len(data):
        size = int.from_bytes(data[at:at + 4], "little")
        at += 4
        if size == 0:
            break
        block = data[at:at + (size & 0x7fffffff)]
        at += len(block) + 4 * (flags >> 4 & 1)
        if size >> 31:
            out += block
        else:
            lz4_block(block, out)
    return bytes(out)


def read_bytes(path):
    data = pathlib.Path(path).read_bytes()
    if data.startswith(GZIP_MAGIC):
        data = gzip.decompress(data)
    return lz4_frame(data) if data.startswith(LZ4_MAGIC) else data


class Cursor:
    """Takes numbers and texts from bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        if self.at + count > len(self.data):
            raise Cut
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, kind):
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def text(self):
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise Cut
        return self.take(end + 1 - self.at)[:-1].decode("utf-8", "replace")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value & MASK

    def svarint(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)


# ---- lines of frames, from format 12 on -----------------------------------------------------


def small_varint(table, at):
    """Six bits a byte. Returns the value and where it ends."""
    value = shift = 0
    while True:
        byte = table[at]
        value |= (byte & 63) << shift
        shift += 6
        at += 1
        if not byte & 64:
            return value, at


def line_of_311(table, first_line, offset):
    line, start, at = first_line, 0, 0
    while at < len(table):
        code, units = table[at] >> 3 & 15, (table[at] & 7) + 1
        at += 1
        if code in (13, 14):
            value, at = small_varint(table, at)
            line += -(value >> 1) if value & 1 else value >> 1
            for _ in range(3 if code == 14 else 0):
                _, at = small_varint(table, at)
        elif code in (10, 11, 12):
            line += code - 10
            at += 2
        elif code < 10:
            at += 1
        if start <= offset // 2 < start + units:
            return 0 if code == 15 else line
        start += units
    return 0


def pairs_of(table):
    return [(table[at], struct.unpack_from("b", table, at + 1)[0])
            for at in range(0, len(table) - 1, 2)]


def line_of_310(table, first_line, offset):
    """The offset is in words of two bytes here, as the frames of this version count."""
    line, start = first_line, 0
    for count, delta in pairs_of(table):
        line += delta if delta != -128 else 0
        if start <= 2 * offset < start + count:
            return 0 if delta == -128 else line
        start += count
    return 0


def line_of_39(table, first_line, offset):
    line, start = first_line, 0
    for count, delta in pairs_of(table):
        start += count
        if start > offset:
            break
        line += delta
    return line


def line_of(python_version, table, first_line, offset):
    minor = python_version >> 16
    if offset < 0:  # before the first instruction
        return first_line
    find = line_of_311 if minor >= 0x30b else line_of_310 if minor == 0x30a else line_of_39
    return find(table, first_line, offset)


# ---- records --------------------------------------------------------------------------------


class Capture:
    """What a file holds; made by reading it."""

    def __init__(self, data):
        self.cursor = Cursor(data)
        self.operations, self.aggregates, self.resident = [], [], []
        self.thread_names = {}
        self.is_complete = False
        self.tid = 0
        self.stacks = collections.defaultdict(list)  # by thread: frames
        self.last = collections.Counter()            # registers of deltas, by field
        self.codes, self.frames, self.cache = {}, {}, [0] * CACHED_ADDRESSES
        self.nodes = [(0, 0)]
        self.header = self.read_header()
        self.allocators = ALLOCATORS if self.header["version"] < 12 else ALLOCATORS_12
        self.read_records()

    def read_header(self):
        take = self.cursor
        if take.take(len(MAGIC)) != MAGIC:
            raise NotRead("no capture of memray")
        version = take.number("i")
        if not 7 <= version <= 13:
            raise NotRead(f"format {version}")
        header = {"version": version, "python_version": take.number("i") if version >= 12 else 0}
        header["has_native_stacks"] = bool(take.number("B"))
        header["is_aggregated"] = version >= 10 and take.number("B") == 1
        for name, kind in (("record_count", "Q"), ("frame_count", "Q"), ("start_ms", "q"),
                           ("end_ms", "q")):
            header[name] = take.number(kind)
        header["command"] = take.text()
        header["pid"] = take.number("i")
        header["main_tid"], header["skipped"] = ((take.number("Q"), take.number("Q"))
                                                 if version >= 9 else (0, 0))
        take.number("i" if version == 7 else "B")  # Python's allocator
        header["traces_python_allocators"] = version >= 11 and bool(take.number("B"))
        header["tracks_lifetimes"] = version >= 12 and bool(take.number("B"))
        if version >= 13:
            take.text()
            for _ in range(2):
                while take.text():
                    pass
        return header

    def delta(self, field):
        self.last[field] = (self.last[field] + self.cursor.svarint()) & MASK
        return self.last[field]

    def read_records(self):
        read = (self.read_aggregated if self.header["is_aggregated"] else
                self.read_token if self.header["version"] < 12 else self.read_byte)
        try:
            while self.cursor.at < len(self.cursor.data) and read(self.cursor.number("B")):
                pass
        except Cut:
            pass
        self.aggregates = [one._replace(stack=self.stack_of(one.stack)) for one in self.aggregates]

    def shared_record(self, kind):
        """Those that all forms have alike."""
        take = self.cursor
        if kind == 5:
            self.delta("ip")
            self.delta("native")
        elif kind == 7:
            take.text()
            count = take.varint()
            take.number("Q")
            for _ in range(count):
                take.take(9)
                take.varint()
        elif kind == 10:
            self.thread_names[self.tid] = take.text()
        elif kind == 11:
            rss = take.varint()
            self.resident.append(Resident(take.varint(), rss, len(self.operations)))
        elif kind == 12:
            self.tid = take.number("Q")
        elif kind != 6:
            raise Cut

    def read_token(self, token):
        """A record of formats 7 to 11; False after the last."""
        kind, flags, take = token & 15, token >> 4, self.cursor
        if kind == 0:
            self.is_complete = flags == 1
            return False
        if kind in (1, 2):
            address = self.delta("address")
            allocator = self.allocator(flags)
            size = take.varint() if kind == 2 or allocator not in SIMPLE_FREES else 0
            if kind == 2:
                self.delta("native")
            self.add_operation(allocator, address, size)
        elif kind == 3:
            number = self.delta("frame")
            function, file = take.text(), take.text()
            self.frames[number] = (function, file, signed(self.delta("line"), 32))
        elif kind == 4:
            self.stacks[self.tid].append(self.frames.get(self.delta("frame"), ("", "", 0)))
        elif kind == 9:
            del self.stacks[self.tid][-(flags + 1):]
        else:
            self.shared_record(kind)
        return True

    def allocator(self, number):
        if not 1 <= number <= 15:
            raise Cut
        return self.allocators[number - 1]

    def add_operation(self, allocator, address, size):
        size = 0 if allocator in SIMPLE_FREES else size
        self.operations.append(
            Operation(allocator, address, size, self.tid, tuple(self.stacks[self.tid])))

    def cached_address(self, index):
        if index < CACHED_ADDRESSES:
            return self.cache[index]
        self.cache = [(self.delta("address") << 3) & MASK, *self.cache[:-1]]
        return self.cache[0]

    def read_byte(self, byte):
        """A record of formats 12 and 13; False after the last."""
        take, has_native = self.cursor, self.header["has_native_stacks"]
        if byte & 128:
            address = self.cached_address(byte >> 3 & 15)
            allocator = self.allocator(byte & 7 or take.number("B"))
            if has_native and allocator not in SIMPLE_FREES:
                self.delta("native")
            self.add_operation(allocator, address,
                               0 if allocator in SIMPLE_FREES else take.varint())
        elif byte & 64:
            code = take.varint()
            self.stacks[self.tid].append(self.frame(code, take.svarint()))
        elif byte & 32:
            self.cached_address(byte >> 1 & 15)
            if has_native and byte & 1:
                self.delta("native")
        elif byte & 16:
            del self.stacks[self.tid][-((byte & 15) + 1):]
        elif byte == 14:
            self.read_code()
        elif byte == 2:
            self.shared_record(11)
        elif byte == 1:
            self.is_complete = True
        elif byte:  # 0 fills
            self.shared_record(byte)
        return byte != 1

    def read_code(self):
        take = self.cursor
        number, function, file = take.varint(), take.text(), take.text()
        self.codes[number] = (function, file, signed(self.delta("line"), 32),
                              take.take(take.varint()))

    def frame(self, code, offset):
        if code not in self.codes:
            return ("", "", 0)
        function, file, first_line, table = self.codes[code]
        return function, file, line_of(self.header["python_version"], table, first_line, offset)

    def read_aggregated(self, kind):
        take, is_new = self.cursor, self.header["version"] >= 12
        if kind == 1:
            ms, rss, _ = take.number("Q"), take.number("Q"), take.number("Q")
            self.resident.append(Resident(ms - self.header["start_ms"], rss, 0))
        elif kind == 2:
            tid, allocator, _, node, _, *figures = struct.unpack("<QB7xQQQQQQQ", take.take(72))
            self.aggregates.append(Aggregate(tid, self.allocator(allocator), node, *figures))
        elif kind == 3:
            self.nodes.append((take.varint(), take.varint()) if is_new else
                              (take.number("Q"), take.number("I")))
        elif kind == 4 and is_new:
            number = take.varint()
            self.frames[number] = (take.varint(), take.svarint())
            take.number("B")
        elif kind == 4:
            number = take.number("Q")
            self.frames[number] = (take.text(), take.text(), take.number("i"))
            take.number("B")
        elif kind == 13:
            take.varint()
            if self.header["has_native_stacks"]:
                take.varint()
        elif kind == 14:
            self.read_code()
        elif kind == 15:
            self.is_complete = True
        elif kind:
            self.shared_record(kind)
        return kind not in (0, 15)

    def ends_well(self):
        """Format 7 has no trailer: there the header says that the writer got to its end."""
        return self.is_complete or (self.header["version"] == 7 and self.header["end_ms"] != 0)

    def stack_of(self, node):
        stack = []
        while 0 < node < len(self.nodes):
            frame, node = self.nodes[node]
            known = self.frames.get(frame, ("", "", 0))
            stack.insert(0, self.frame(*known) if len(known) == 2 else known)
        return tuple(stack)


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def read(path):
    return Capture(read_bytes(path))
