#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every figure of a capture of memray, from the list of its operations, by the shortest way that is
plainly right.

usage: memray_figures.py FILE...   prints the figures as JSON
"""
import collections
import json
import sys

import memray_reader
from memray_reader import SIMPLE_FREES


class Heap:
    """What is live: pieces [start, end, index of the operation] of mappings, and all else by its
    address."""

    def __init__(self, operations):
        self.operations = operations
        self.by_address, self.pieces = {}, []
        self.unmatched = self.replaced = 0

    def step(self, index):
        one = self.operations[index]
        if one.allocator in SIMPLE_FREES:
            if self.by_address.pop(one.address, None) is None:
                self.unmatched += 1
        elif one.allocator == "mmap":  # what was mapped there is no more
            self.replaced += self.unmap(one.address, one.address + one.size)
            self.pieces.append([one.address, one.address + one.size, index])
        elif one.allocator == "munmap":
            self.unmatched += not self.unmap(one.address, one.address + one.size)
        else:
            self.replaced += one.address in self.by_address
            self.by_address[one.address] = index

    def unmap(self, start, end):
        """Was there anything?"""
        kept = []
        for piece in self.pieces:
            low, high, index = piece
            if end <= low or start >= high:
                kept.append(piece)
                continue
            kept += [[a, b, index] for a, b in ((low, start), (end, high)) if a < b]
        was_there = kept != self.pieces
        self.pieces = kept
        return was_there

    def live(self):
        """(index of the operation, bytes) of each piece."""
        yield from ((i, self.operations[i].size) for i in self.by_address.values())
        yield from ((i, high - low) for low, high, i in self.pieces)


def allocates(one):
    return one.allocator not in SIMPLE_FREES and one.allocator != "munmap"


def moments(operations):
    """(index, bytes) of all pieces: at the peak, and at the end; and the heap at the end."""
    heap, largest, at_peak = Heap(operations), -1, []
    for index in range(len(operations)):
        heap.step(index)
        total = sum(size for _, size in heap.live())
        if total >= largest:  # like memray the last of equal ones
            largest, at_peak = total, list(heap.live())
    return at_peak, list(heap.live()), heap


def temporary(operations):
    """Indices of what its own thread freed before it had made two more allocations."""
    recent, found = collections.defaultdict(list), set()
    for index, one in enumerate(operations):
        if allocates(one):
            recent[one.tid] = [index, *recent[one.tid]][:2]
            continue
        for before in recent[one.tid]:
            made = operations[before]
            is_mapping = made.allocator == "mmap"
            if before in found or is_mapping != (one.allocator == "munmap"):
                continue
            if made.address == one.address and (not is_mapping or made.size == one.size):
                found.add(before)
                break
    return sorted(found)


def live_after(operations, count):
    """(index, bytes) of all that is live after so many operations."""
    heap = Heap(operations)
    for index in range(count):
        heap.step(index)
    return list(heap.live())


def middle(capture):
    """How many operations came before the middle of the capture, or None: the process was killed,
    or its memory was not looked at so late."""
    header = capture.header
    lasted = header["end_ms"] - header["start_ms"]
    late = [one for one in capture.resident if lasted > 0 and one.ms >= lasted // 2]
    return late[0].operation_count if late and header["end_ms"] else None


def site_of(stack):
    """The innermost frame in words; "" without a stack."""
    if not stack:
        return ""
    function, file, line = stack[-1]
    return f"{file}:{line}:{function}" if line > 0 else f"{file}:{function}"


def collapsed(stack):
    """As flame graphs have it: outermost first, with the file's own name alone."""
    return ";".join(site_of([(function, file.rsplit("/", 1)[-1], line)])
                    for function, file, line in stack) or "(no stack)"


def stack_sums(pieces):
    """(stack, bytes) added up; of what holds no bytes there is nothing to draw."""
    sums = collections.Counter()
    for stack, size in pieces:
        sums[collapsed(stack)] += size
    return {text: size for text, size in sums.items() if size}


def stacks(capture):
    """Stacks of what was live at the peak, and at the end."""
    if capture.header["is_aggregated"]:
        return [stack_sums((one.stack, getattr(one, name)) for one in capture.aggregates)
                for name in ("peak_bytes", "leaked_bytes")]
    return [stack_sums((capture.operations[index].stack, size) for index, size in pieces)
            for pieces in moments(capture.operations)[:2]]


def new_site():
    return dict.fromkeys(("total_bytes", "count", "peak_bytes", "leaked_bytes", "leaked_count",
                          "temporary_count"), 0)


def size_class(size):
    """The smallest size of those that are written with as many bits."""
    return 0 if size == 0 else 1 << (size.bit_length() - 1)


def add_growth(made, operations, middle_count):
    """What is live at the end, less what was live in the middle."""
    before = live_after(operations, middle_count)
    made["middle_bytes"] = sum(size for _, size in before)
    made["growth_bytes"] = made["leaked_bytes"] - made["middle_bytes"]
    for row in made["sites"].values():
        row["growth_bytes"] = row["leaked_bytes"]
    for index, size in before:
        made["sites"][site_of(operations[index].stack)]["growth_bytes"] -= size


def resident_growth(resident):
    """Of the second half, in eight parts: the lowest in each; None where a part has none."""
    if len(resident) < 2:
        return None
    half = (resident[-1].ms - resident[0].ms) // 2
    begin, parts = resident[0].ms + half, [[] for _ in range(8)]
    for one in resident:
        if one.ms >= begin and half >= 8:
            parts[min(7, (one.ms - begin) * 8 // half)].append(one.size)
    if not all(parts):
        return None
    lows = [min(part) for part in parts]
    growth = lows[7] - lows[0]
    return {"rss_growth_bytes": growth,
            "rss_growth_ratio": growth / lows[0] if lows[0] else None,
            "rss_growth_bytes_per_second": growth / (half // 8 * 7 / 1000),
            "rss_rising_ratio": sum(b > a for a, b in zip(lows, lows[1:])) / 7}


def streamed_figures(operations):
    at_peak, at_end, heap = moments(operations)
    made = [index for index, one in enumerate(operations) if allocates(one)]
    short_lived = temporary(operations)
    sites = collections.defaultdict(new_site)
    allocators, threads = {}, {}
    for index in made:
        one = operations[index]
        sites[site_of(one.stack)]["total_bytes"] += one.size
        sites[site_of(one.stack)]["count"] += 1
        for key, table in ((one.allocator, allocators), (one.tid, threads)):
            count, size, *_ = table.get(key, (0, 0))
            table[key] = (count + 1, size + one.size, 0)
    for name, pieces in (("peak_bytes", at_peak), ("leaked_bytes", at_end)):
        for index, size in pieces:
            sites[site_of(operations[index].stack)][name] += size
            sites[site_of(operations[index].stack)]["leaked_count"] += name == "leaked_bytes"
    for index in short_lived:
        sites[site_of(operations[index].stack)]["temporary_count"] += 1
    for tid, (count, size, _) in threads.items():
        threads[tid] = (count, size, sum(size for index, size in at_peak
                                         if operations[index].tid == tid))
    return {
        "allocation_count": len(made), "allocated_bytes": sum(operations[i].size for i in made),
        "peak_bytes": sum(size for _, size in at_peak), "peak_allocation_count": len(at_peak),
        "leaked_bytes": sum(size for _, size in at_end), "leaked_count": len(at_end),
        "temporary_count": len(short_lived),
        "temporary_bytes": sum(operations[i].size for i in short_lived),
        "unmatched_free_count": heap.unmatched, "replaced_count": heap.replaced,
        "thread_count": len(threads), "site_count": len(sites),
        "sites": dict(sites), "threads": threads,
        "allocators": {name: pair[:2] for name, pair in allocators.items()},
        "sizes": dict(collections.Counter(size_class(operations[i].size) for i in made)),
    }


def aggregated_figures(aggregates):
    def total(name, rows):
        return sum(getattr(one, name) for one in rows)

    sites = collections.defaultdict(new_site)
    threads = collections.defaultdict(int)
    for one in aggregates:
        sites[site_of(one.stack)]["peak_bytes"] += one.peak_bytes
        sites[site_of(one.stack)]["leaked_bytes"] += one.leaked_bytes
        sites[site_of(one.stack)]["leaked_count"] += one.leaked_count
        threads[one.tid] += one.peak_bytes
    return {
        **{name: total(field, aggregates) for name, field in (
            ("peak_bytes", "peak_bytes"), ("peak_allocation_count", "peak_count"),
            ("leaked_bytes", "leaked_bytes"), ("leaked_count", "leaked_count"))},
        "thread_count": len(threads), "site_count": len(sites), "sites": dict(sites),
        "threads": {tid: (None, None, size) for tid, size in threads.items()},
    }


def figures(capture):
    header = capture.header
    made = (aggregated_figures(capture.aggregates) if header["is_aggregated"] else
            streamed_figures(capture.operations))
    names = ("command", "pid", "is_aggregated", "has_native_stacks", "traces_python_allocators")
    made.update({name: header[name] for name in names}, is_complete=capture.ends_well(),
                thread_names=dict(capture.thread_names), resident=list(capture.resident))
    middle_count = None if header["is_aggregated"] else middle(capture)
    if middle_count is not None:
        add_growth(made, capture.operations, middle_count)
    if not header["is_aggregated"]:
        made["heap"] = [sum(size for _, size in live_after(capture.operations, one.operation_count))
                        for one in capture.resident]
    if header["end_ms"]:
        made["capture_ns"] = (header["end_ms"] - header["start_ms"]) * 1000000
    elif capture.resident:  # killed
        made["capture_ns"] = capture.resident[-1].ms * 1000000
    if header["python_version"]:
        version = header["python_version"]
        made["python_version"] = f"{version >> 24}.{version >> 16 & 255}.{version >> 8 & 255}"
    if capture.resident:
        sizes = [one.size for one in capture.resident]
        made.update(resident_growth(capture.resident) or {})
        made.update(peak_rss_bytes=max(sizes), first_rss_bytes=sizes[0], last_rss_bytes=sizes[-1])
    return made


def main():
    for path in sys.argv[1:]:
        print(json.dumps(figures(memray_reader.read(path)), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
