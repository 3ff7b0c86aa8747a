# SPDX-License-Identifier: MIT
"""A model of CUDA's caching allocator in PyTorch: the same pools, sizes, splitting, merging,
deferred frees, retries and expandable segments, on memory that is only numbers. It keeps the whole
log of what it did, so that a generator knows what a snapshot of it must show.
"""
import bisect
import collections

KIB, MIB = 1 << 10, 1 << 20
MIN_BLOCK = 512
SMALL_SIZE = MIB  # requests up to here are served from small segments
SMALL_BUFFER, LARGE_BUFFER = 2 * MIB, 20 * MIB
MIN_LARGE_ALLOC = 10 * MIB  # requests from here on get a segment of their own
ROUND_LARGE = 2 * MIB
DEFAULT_POOL = (0, 0)

# How much history is kept: the level at which a stack is taken.
NEVER, STATE, ALLOC, ALL = range(4)

Settings = collections.namedtuple("Settings", "capacity overhead is_expandable max_split_size")
# One line of the log. owner: the Allocation of alloc and free entries.
Entry = collections.namedtuple("Entry", "action addr size stream context time_us pool_id owner")


def round_up(value, unit):
    return (value + unit - 1) // unit * unit


def round_size(requested):
    return max(MIN_BLOCK, round_up(requested, MIN_BLOCK))


def segment_size_of(size):
    if size <= SMALL_SIZE:
        return SMALL_BUFFER
    return LARGE_BUFFER if size < MIN_LARGE_ALLOC else round_up(size, ROUND_LARGE)


class OutOfMemory(Exception):
    """No block, and the device gives no more."""


class Context:
    """The stack taken at one call: entries and blocks share it, as they share it in a snapshot."""
    __slots__ = ("stack",)

    def __init__(self, stack):
        self.stack = stack


class Allocation:
    """One block from its allocation to its end, with the log indices of its life."""
    __slots__ = ("addr", "size", "requested", "stream", "pool", "context", "tag", "stack",
                 "alloc_index", "free_index", "done_index", "block")

    def __init__(self, block, stack, tag, alloc_index):
        self.addr, self.size, self.requested = block.ptr, block.size, block.requested
        self.stream, self.pool, self.context = block.stream, block.pool, block.context
        self.stack, self.tag, self.alloc_index, self.block = stack, tag, alloc_index, block
        self.free_index = self.done_index = None


class Block:
    __slots__ = ("ptr", "size", "requested", "stream", "pool", "is_allocated", "is_mapped", "prev",
                 "next", "uses", "event_count", "context", "segment_context", "reservation",
                 "history", "owner")

    def __init__(self, ptr, size, stream, pool):
        self.ptr, self.size, self.stream, self.pool = ptr, size, stream, pool
        self.requested = self.event_count = 0
        self.is_allocated, self.is_mapped, self.uses = False, True, {}
        self.prev = self.next = self.context = self.segment_context = None
        self.reservation = self.history = self.owner = None

    def is_split(self):
        return bool(self.prev or self.next)

    def is_active(self):
        return self.is_allocated or self.event_count > 0 or bool(self.uses)


class Pool:
    """Free blocks by (stream, size, address); unmapped ranges by (stream, address)."""

    def __init__(self, is_small, pool_id):
        self.is_small, self.pool_id = is_small, pool_id
        self.free, self.unmapped, self.by_ptr = [], [], {}

    def insert(self, block):
        bisect.insort(self.free, (block.stream, block.size, block.ptr))
        self.by_ptr[block.ptr] = block

    def remove(self, block):
        del self.free[bisect.bisect_left(self.free, (block.stream, block.size, block.ptr))]
        del self.by_ptr[block.ptr]

    def insert_unmapped(self, block):
        bisect.insort(self.unmapped, (block.stream, block.ptr))
        self.by_ptr[block.ptr] = block

    def remove_unmapped(self, block):
        del self.unmapped[bisect.bisect_left(self.unmapped, (block.stream, block.ptr))]
        del self.by_ptr[block.ptr]

    def forget(self, block):
        (self.remove if block.is_mapped else self.remove_unmapped)(block)


class AddressSpace:
    """Where segments come to lie: the lowest gap, so that addresses are used again."""

    def __init__(self, base):
        self.base, self.taken = base, []  # sorted (address, size)

    def take(self, size):
        at, place = self.base, 0
        while place < len(self.taken) and self.taken[place][0] - at < size:
            at = sum(self.taken[place])
            place += 1
        self.taken.insert(place, (at, size))
        return at

    def give(self, address):
        del self.taken[bisect.bisect_left(self.taken, (address, 0))]


class Reservation:
    """The address range of an expandable segment, mapped in granules."""

    def __init__(self, base, size, granule):
        self.base, self.size, self.granule = base, size, granule

    def down(self, ptr):
        return self.base + (ptr - self.base) // self.granule * self.granule

    def up(self, ptr):
        return self.base + round_up(ptr - self.base, self.granule)


class Allocator:
    """One device."""

    def __init__(self, settings, address_base):
        self.settings = settings
        self.pools = {}
        self.blocks = {}  # of every mapped range, by address
        self.space, self.reservations = AddressSpace(address_base), []
        self.reservation_end = address_base + (1 << 43)
        self.reserved = 0
        self.events = collections.OrderedDict()  # stream: deque of (ready time, block)
        self.deferred = []
        self.capture = None  # the pool id of the graph being captured
        self.now_us = 0
        self.level, self.record_start = NEVER, None
        self.log, self.allocations, self.ooms = [], [], []
        self.retry_count = 0

    # ---- history ----

    def record(self, level):
        self.level = level
        self.record_start = len(self.log) if level != NEVER else None

    def gather(self, level, stack):
        return Context(stack) if self.level >= level and stack is not None else None

    def note(self, action, addr, size, stream, context, pool_id=DEFAULT_POOL, owner=None):
        context = context if self.level >= ALLOC else None
        self.log.append(Entry(action, addr, size, stream, context, self.now_us, pool_id, owner))

    # ---- requests ----

    def pool_for(self, size):
        key = (self.capture or DEFAULT_POOL, size <= SMALL_SIZE)
        if key not in self.pools:
            self.pools[key] = Pool(key[1], key[0])
        return self.pools[key]

    def malloc(self, requested, stream, stack, tag):
        context = self.gather(STATE, stack)
        if not self.capture:
            self.process_events(context)
        size = round_size(requested)
        pool = self.pool_for(size)
        block = self.find_free(pool, stream, size) or self.grow(pool, stream, size, context)
        if not block and self.release_oversize(pool, stream, size, context):
            block = self.grow(pool, stream, size, context)
        if not block and not self.capture:
            self.release_cached(context)
            block = self.grow(pool, stream, size, context)
            self.retry_count += 1  # as PyTorch counts: whether or not it helped
        if not block:
            self.ooms.append(self.describe_oom(size, pool, stream))
            self.note("oom", self.device_free(), size, stream, context, pool.pool_id)
            raise OutOfMemory
        return self.take(block, requested, size, context, (stack, tag))

    def take(self, block, requested, size, context, label):
        """Hands a free block, no longer in its pool, to the caller."""
        if self.should_split(block, size):
            rest, block = block, Block(block.ptr, size, block.stream, block.pool)
            block.reservation, block.prev, block.next = rest.reservation, rest.prev, rest
            block.segment_context, rest.segment_context = rest.segment_context, None
            if block.prev:
                block.prev.next = block
            rest.prev, rest.ptr, rest.size = block, rest.ptr + size, rest.size - size
            self.blocks[rest.ptr] = rest
            block.pool.insert(rest)
        self.blocks[block.ptr] = block
        block.is_allocated, block.requested, block.context = True, requested, context
        block.history = (block.ptr, requested, context) if context else None
        block.owner = Allocation(block, label[0], label[1], len(self.log))
        self.allocations.append(block.owner)
        self.note("alloc", block.ptr, requested, block.stream, context, block.pool.pool_id,
                  block.owner)
        return block.owner

    def should_split(self, block, size):
        rest = block.size - size
        if block.pool.is_small or self.settings.is_expandable:
            return rest >= MIN_BLOCK
        return size < self.settings.max_split_size and rest > SMALL_SIZE

    def use_on(self, allocation, stream, delay_us):
        """The block is used on another stream: it is reusable only that long after it is freed."""
        if stream != allocation.stream:
            allocation.block.uses[stream] = delay_us

    def free(self, allocation, stack):
        context, block = self.gather(ALL, stack), allocation.block
        block.is_allocated, allocation.free_index = False, len(self.log)
        self.note("free_requested", block.ptr, block.requested, block.stream,
                  context or block.context, block.pool.pool_id, allocation)
        if not block.uses:
            self.free_block(block, context)
        elif self.capture:
            self.deferred.append(block)
        else:
            self.insert_events(block)

    def empty_cache(self, stack):
        self.release_cached(self.gather(ALL, stack))

    # ---- deferred frees ----

    def insert_events(self, block):
        for stream, delay_us in block.uses.items():
            block.event_count += 1
            self.events.setdefault(stream, collections.deque()).append(
                (self.now_us + delay_us, block))
        block.uses = {}

    def insert_deferred(self):
        for block in self.deferred:
            self.insert_events(block)
        self.deferred = []

    def process_events(self, context, is_waiting=False):
        self.insert_deferred()
        for stream in list(self.events):
            queue = self.events[stream]
            while queue and (is_waiting or queue[0][0] <= self.now_us):
                block = queue.popleft()[1]
                block.event_count -= 1
                if block.event_count == 0:
                    self.free_block(block, context)
            if not queue:
                del self.events[stream]

    def free_block(self, block, context):
        block.owner.done_index = len(self.log)
        self.note("free_completed", block.ptr, block.requested, block.stream,
                  context or block.context, block.pool.pool_id, block.owner)
        block.context = block.owner = None
        self.merge(block, block.prev)
        self.merge(block, block.next)
        block.pool.insert(block)

    def merge(self, block, other):
        if not other or other.is_active() or other.is_mapped != block.is_mapped:
            return
        other.pool.forget(other)
        for address in (block.ptr, other.ptr):
            self.blocks.pop(address, None)
        if block.prev is other:
            block.ptr, block.prev = other.ptr, other.prev
            block.segment_context = other.segment_context
            if block.prev:
                block.prev.next = block
        else:
            block.next = other.next
            if block.next:
                block.next.prev = block
        block.size += other.size
        self.blocks[block.ptr] = block

    # ---- finding, growing ----

    def find_free(self, pool, stream, size):
        at = bisect.bisect_left(pool.free, (stream, size, 0))
        if at == len(pool.free) or pool.free[at][0] != stream:
            return None
        at = self.prefer_least_expandable(pool, at)
        block, limit = pool.by_ptr[pool.free[at][2]], self.settings.max_split_size
        if size < limit <= block.size or (size >= limit and block.size >= size + LARGE_BUFFER):
            return None
        pool.remove(block)
        return block

    @staticmethod
    def prefer_least_expandable(pool, at):
        def reach(index):
            block = pool.by_ptr[pool.free[index][2]]
            return block.size + (block.next.size if block.next and not block.next.is_mapped else 0)
        while (pool.by_ptr[pool.free[at][2]].reservation and at + 1 < len(pool.free)
               and pool.free[at + 1][0] == pool.free[at][0] and reach(at + 1) < reach(at)):
            at += 1
        return at

    def device_free(self):
        return self.settings.capacity - self.settings.overhead - self.reserved

    def grow(self, pool, stream, size, context):
        if self.settings.is_expandable:
            return self.grow_expandable(pool, stream, size, context)
        total = segment_size_of(size)
        if total > self.device_free():
            return None
        block = Block(self.space.take(total), total, stream, pool)
        self.blocks[block.ptr], block.segment_context = block, context
        self.reserved += total
        self.note("segment_alloc", block.ptr, total, stream, context, pool.pool_id)
        return block

    def release_oversize(self, pool, stream, size, context):
        """max_split_size: gives back big free blocks, just enough for the request."""
        limit = self.settings.max_split_size
        if limit == float("inf"):
            return False
        wanted = max(size, limit)
        at = bisect.bisect_left(pool.free, (stream, wanted, 0))
        if at < len(pool.free) and pool.free[at][0] == stream:
            self.release_block(pool.by_ptr[pool.free[at][2]], context)
            return True
        released = 0
        while at > 0 and released < wanted and pool.free[at - 1][0] == stream \
                and pool.free[at - 1][1] >= limit:
            at -= 1
            released += pool.free[at][1]
            self.release_block(pool.by_ptr[pool.free[at][2]], context)
        return released >= wanted

    def release_cached(self, context):
        """All segments nobody uses go back to the device."""
        self.process_events(context, is_waiting=True)
        for is_small in (False, True):
            pool = self.pools.get((DEFAULT_POOL, is_small))
            for _, _, ptr in list(pool.free) if pool else ():
                block = pool.by_ptr[ptr]
                if block.reservation:
                    self.unmap_block(block, context)
                elif not block.is_split():
                    self.release_block(block, context)

    def release_block(self, block, context):
        self.note("segment_free", block.ptr, block.size, block.stream,
                  context or block.segment_context, block.pool.pool_id)
        block.pool.remove(block)
        del self.blocks[block.ptr]
        self.space.give(block.ptr)
        self.reserved -= block.size

    # ---- expandable segments ----

    def reserve(self, pool, stream):
        granule = SMALL_BUFFER if pool.is_small else LARGE_BUFFER
        size = round_up(self.settings.capacity * 9 // 8, granule)
        block = Block(self.reservation_end, size, stream, pool)
        block.reservation, block.is_mapped = Reservation(block.ptr, size, granule), False
        self.reservation_end += size + LARGE_BUFFER
        pool.insert_unmapped(block)
        return block

    def find_expandable(self, pool, stream, size):
        """The first of a run of free and unmapped blocks that could hold size."""
        def room(block):
            total = 0
            while block and total < size and not block.is_active():
                total, block = total + block.size, block.next
            return total
        at = bisect.bisect_left(pool.unmapped, (stream, 0))
        for key in pool.unmapped[at:]:
            if key[0] != stream:
                break
            block = pool.by_ptr[key[1]]
            if block.prev and not block.prev.is_active():
                block = block.prev
            if room(block) >= size:
                return block
        return self.reserve(pool, stream)

    def grow_expandable(self, pool, stream, size, context):
        block = self.find_expandable(pool, stream, size)
        if not block.is_mapped and not self.map_block(block, min(block.size, size), context):
            return None
        while block.size < size:
            following = block.next
            if not self.map_block(following, min(size - block.size, following.size), context):
                return None
            block = following
        pool.remove(block)
        return block

    def map_block(self, block, size, context):
        pool, total = block.pool, round_up(size, block.reservation.granule)
        if total > self.device_free():
            return False
        pool.remove_unmapped(block)
        addr, block.is_mapped = block.ptr, True
        if total < block.size:
            rest = Block(block.ptr + total, block.size - total, block.stream, pool)
            rest.reservation, rest.is_mapped = block.reservation, False
            rest.prev, rest.next, block.next, block.size = block, block.next, rest, total
            if rest.next:
                rest.next.prev = rest
            pool.insert_unmapped(rest)
        self.blocks[block.ptr] = block
        self.merge(block, block.prev)
        self.merge(block, block.next)
        pool.insert(block)
        self.reserved += total
        self.note("segment_map", addr, total, block.stream, context, pool.pool_id)
        if not block.prev and not block.segment_context:
            block.segment_context = context
        return True

    def unmap_block(self, block, context):
        """Gives back the whole granules of a free block; its ends stay."""
        begin = block.reservation.up(block.ptr)
        end = block.reservation.down(block.ptr + block.size)
        if begin >= end:
            return
        pool = block.pool
        pool.remove(block)
        del self.blocks[block.ptr]
        for ptr, size, is_before in ((block.ptr, begin - block.ptr, True),
                                     (end, block.ptr + block.size - end, False)):
            if size:
                self.keep_end(block, ptr, size, is_before)
        block.ptr, block.size, block.is_mapped = begin, end - begin, False
        self.merge(block, block.prev)
        self.merge(block, block.next)
        self.blocks.pop(block.ptr, None)
        pool.insert_unmapped(block)
        self.reserved -= end - begin
        self.note("segment_unmap", begin, end - begin, block.stream,
                  context or block.segment_context, pool.pool_id)
        if not block.prev and not block.next:
            pool.remove_unmapped(block)

    def keep_end(self, block, ptr, size, is_before):
        end = Block(ptr, size, block.stream, block.pool)
        end.reservation = block.reservation
        end.prev, end.next = (block.prev, block) if is_before else (block, block.next)
        for neighbour, name in ((end.prev, "next"), (end.next, "prev")):
            if neighbour:
                setattr(neighbour, name, end)
        self.blocks[ptr] = end
        block.pool.insert(end)

    # ---- what is there ----

    def segments(self):
        """Lists of blocks: each segment, or each mapped range of an expandable one, by address."""
        heads = (b for b in self.blocks.values() if not (b.prev and b.prev.is_mapped))
        for block in sorted(heads, key=lambda b: b.ptr):
            run = []
            while block and block.is_mapped:
                run.append(block)
                block = block.next
            yield run

    def active_bytes(self):
        return sum(block.size for block in self.blocks.values() if block.is_active())

    def describe_oom(self, size, pool, stream):
        """free, largest: by whether private pools can be told from the default one."""
        free = [b for b in self.blocks.values() if not b.is_active()]
        known = [b for b in free if b.pool.pool_id == DEFAULT_POOL]

        def largest(blocks):
            return max((b.size for b in blocks if b.pool.is_small == pool.is_small
                        and b.stream == stream), default=0)

        def pages(blocks, lost):
            """Bytes in whole pages of expandable segments, when so many are lost at the ends."""
            total = 0
            for block in blocks:
                granule = SMALL_BUFFER if block.pool.is_small else LARGE_BUFFER
                total += max(0, block.size // granule - lost) * granule
            return total
        return {"index": len(self.log), "size": size, "device_free": self.device_free(),
                "reserved_bytes": self.reserved,
                "page_bytes": {is_known: [pages(blocks, 1), pages(blocks, 0)]
                               for is_known, blocks in ((True, known), (False, free))},
                "free_bytes": {True: sum(b.size for b in known), False: sum(b.size for b in free)},
                "largest_free_bytes": {True: largest(known), False: largest(free)}}
