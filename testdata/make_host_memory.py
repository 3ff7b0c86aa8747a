# SPDX-License-Identifier: MIT
"""The captures of memray of this folder; README.md works their figures out by hand. make.py prints
them. A job of two minutes that keeps what it logs, as memray would have recorded it."""
import json
import struct

MIB = 1 << 20
SECONDS = 120
START_MS = 1777896000250
COMMAND = "python train.py --epochs 3"
MAIN_THREAD, PIN_THREAD = 1, 2

# function, file, line: the numbers of frames, and of code objects, are their places here.
FRAMES = (("main", "/home/user/job/train.py", 52), ("load_model", "/home/user/job/model.py", 20),
          ("train_step", "/home/user/job/train.py", 33), ("log", "/home/user/job/metrics.py", 17))
MAIN, LOAD_MODEL, TRAIN_STEP, LOG = range(4)
MODEL_AT, BATCH_AT, LOG_AT, PIN_AT = 0x7f0000000000, 0x7f2000000000, 0x7f4000000000, 0x7f6000000000


def job(seconds=SECONDS):
    """What happens, as (name, arguments …)."""
    yield "thread", MAIN_THREAD
    yield "name", "MainThread"
    yield "push", MAIN
    yield "push", LOAD_MODEL
    for layer in range(3):
        yield "mmap", MODEL_AT + layer * 64 * MIB, 64 * MIB
    yield "pop",
    for second in range(seconds):
        yield "push", TRAIN_STEP
        yield "malloc", BATCH_AT, 8 * MIB
        yield "push", LOG
        yield "malloc", LOG_AT + second * 4 * MIB, 2 * MIB
        yield "pop",
        yield "free", BATCH_AT
        yield "pop",
        if second % 10 == 0:
            yield "thread", PIN_THREAD
            if second == 0:
                yield "name", "pin_memory"
            else:
                yield "free", PIN_AT
            yield "posix_memalign", PIN_AT, 16 * MIB
            yield "thread", MAIN_THREAD
        yield "rss", 1000 * second, (600 + 2 * second) * MIB


# ---- numbers -------------------------------------------------------------------------------


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


def header(version, is_aggregated=False, is_whole=True):
    events = [event for event in job() if event[0] in ALLOCATORS_11] if is_whole else []
    out = b"memray\0" + struct.pack("<i", version)
    if version >= 12:
        out += struct.pack("<i", 0x030c04f0)
    out += struct.pack("<BBQQqq", 0, is_aggregated, len(events),
                       len(FRAMES) if is_whole and version < 12 else 0, START_MS,
                       START_MS + 1000 * SECONDS if is_whole else 0)
    out += text(COMMAND) + struct.pack("<iQQBB", 4711, MAIN_THREAD, 0, 1, 0)
    return out + (b"\0" if version >= 12 else b"")


# ---- streams -------------------------------------------------------------------------------

ALLOCATORS_11 = {"malloc": 1, "free": 2, "posix_memalign": 5, "mmap": 10}
ALLOCATORS_12 = {"free": 5, "malloc": 6, "posix_memalign": 9, "mmap": 14}


class Stream11:
    """Format 11: a token a record, differences from the last of each field."""

    def __init__(self):
        self.out, self.last, self.seen = bytearray(), {}, set()

    def delta(self, field, value):
        change, self.last[field] = value - self.last.get(field, 0), value
        return svarint(change)

    def push(self, frame):
        if frame not in self.seen:
            self.seen.add(frame)
            function, file, line = FRAMES[frame]
            self.out += b"\x03" + self.delta("frame", frame) + text(function) + text(
                file) + self.delta("line", line)
        self.out += b"\x04" + self.delta("frame", frame)

    def pop(self):
        self.out.append(9)

    def operation(self, allocator, address, size=None):
        self.out += bytes([1 | ALLOCATORS_11[allocator] << 4]) + self.delta("address", address)
        self.out += b"" if size is None else varint(size)

    def rss(self, ms, size):
        self.out += b"\x0b" + varint(size) + varint(ms)

    def trailer(self):
        self.out += b"\x10"


class Stream12(Stream11):
    """Format 12: what a byte is its highest bit tells; addresses are cached, lines in tables."""

    def __init__(self):
        super().__init__()
        self.cache = [0] * 15

    def push(self, frame):
        if frame not in self.seen:
            self.seen.add(frame)
            function, file, line = FRAMES[frame]
            table = b"\xd7\0\0"  # eight units of the first line
            self.out += b"\x0e" + varint(frame) + text(function) + text(file) + self.delta(
                "line", line) + varint(len(table)) + table
        self.out += b"\x40" + varint(frame) + svarint(4)

    def pop(self):
        self.out.append(16)

    def operation(self, allocator, address, size=None):
        number = ALLOCATORS_12[allocator]
        index = self.cache.index(address) if address in self.cache else 15
        self.out.append(128 | index << 3 | (number if number < 8 else 0))
        if index == 15:
            self.out += self.delta("address", address >> 3)
            self.cache = [address, *self.cache[:-1]]
        self.out += bytes([number]) if number >= 8 else b""
        self.out += b"" if size is None else varint(size)

    def rss(self, ms, size):
        self.out += b"\x02" + varint(size) + varint(ms)

    def trailer(self):
        self.out += b"\x01"


def padded(data):
    """The writer maps whole pages in advance."""
    return bytes(data) + bytes(-len(data) % 4096)


def stream(version, seconds=SECONDS, is_whole=True):
    writer = Stream12() if version >= 12 else Stream11()
    for name, *rest in job(seconds):
        if name == "thread":
            writer.out += b"\x0c" + struct.pack("<Q", *rest)
        elif name == "name":
            writer.out += b"\x0a" + text(*rest)
        elif name in ("push", "pop", "rss"):
            getattr(writer, name)(*rest)
        else:
            writer.operation(name, *rest)
    if is_whole:
        writer.trailer()
    return padded(header(version, is_whole=is_whole) + writer.out)


# ---- the other forms -----------------------------------------------------------------------


def aggregated():
    """The same job with --aggregate: what was live at the peak and at the end, by stack."""
    out = bytearray(header(11, is_aggregated=True))
    for name, *rest in job():
        if name == "rss":
            out += b"\x01" + struct.pack("<QQQ", START_MS + rest[0], rest[1], 0)
    for number, (function, file, line) in enumerate(FRAMES):
        out += b"\x04" + struct.pack("<Q", number) + text(function) + text(file) + struct.pack(
            "<iB", line, 0)
    for frame, parent in ((MAIN, 0), (LOAD_MODEL, 1), (TRAIN_STEP, 1), (LOG, 3)):  # nodes 1 to 4
        out += b"\x03" + struct.pack("<QI", frame, parent)
    for tid, name in ((MAIN_THREAD, "MainThread"), (PIN_THREAD, "pin_memory")):
        out += b"\x0c" + struct.pack("<Q", tid) + b"\x0a" + text(name)
    for tid, allocator, node, at_peak, leaked in (
            (MAIN_THREAD, "mmap", 2, (3, 192 * MIB), (3, 192 * MIB)),
            (MAIN_THREAD, "malloc", 3, (1, 8 * MIB), (0, 0)),
            (MAIN_THREAD, "malloc", 4, (120, 240 * MIB), (120, 240 * MIB)),
            (PIN_THREAD, "posix_memalign", 0, (1, 16 * MIB), (1, 16 * MIB))):
        out += b"\x02" + struct.pack("<QB7xQQQQQQQ", tid, ALLOCATORS_11[allocator], 0, node, 0,
                                     at_peak[0], leaked[0], at_peak[1], leaked[1])
    return padded(out + b"\x0f")


def stats():
    """What `memray stats --json` says of it, but for fewer sizes."""
    sizes = ((0, 4, 120), (4, 8, 0), (8, 16, 120), (16, 32, 12), (32, 64, 3))
    return json.dumps({
        "total_num_allocations": 255,
        "total_bytes_allocated": 1584 * MIB,
        "allocation_size_histogram": [
            {"min_bytes": low * MIB, "max_bytes": high * MIB - (high < 64), "count": count}
            for low, high, count in sizes],
        "allocator_type_distribution": {"MALLOC": 240, "POSIX_MEMALIGN": 12, "MMAP": 3},
        "top_allocations_by_size": [
            {"location": "train_step:/home/user/job/train.py:33", "size": 960 * MIB},
            {"location": "log:/home/user/job/metrics.py:17", "size": 240 * MIB}],
        "top_allocations_by_count": [
            {"location": "log:/home/user/job/metrics.py:17", "count": 120},
            {"location": "train_step:/home/user/job/train.py:33", "count": 120},
            {"location": "<stack trace unavailable>", "count": 12}],
        "metadata": {
            "start_time": "2026-05-04 12:00:00.250000+00:00",
            "end_time": "2026-05-04 12:02:00.250000+00:00", "total_allocations": 386,
            "total_frames": 4, "peak_memory": 456 * MIB, "command_line": COMMAND, "pid": 4711,
            "python_allocator": "pymalloc", "has_native_traces": False,
            "trace_python_allocators": False},
    }, indent=2).encode()


def lz4_frame(data):
    """A frame of stored blocks: linked, 64 KiB, without checksums, as memray's are."""
    out = bytes.fromhex("04224d184040c0")
    for at in range(0, len(data), 1 << 16):
        block = data[at:at + (1 << 16)]
        out += struct.pack("<I", len(block) | 1 << 31) + block
    return out + bytes(4)


def files():
    return {
        "host_memory/leak.bin": stream(11),
        "host_memory/leak_lz4.bin": lz4_frame(stream(11)),
        "host_memory/leak_v12.bin": stream(12),
        "host_memory/aggregated.bin": aggregated(),
        "host_memory/killed.bin": stream(12, seconds=40, is_whole=False),
        "host_memory/stats.bin.json": stats(),
    }
