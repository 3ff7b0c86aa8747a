# SPDX-License-Identifier: MIT
"""What a snapshot of a simulated run must show. Worked out from the simulation, which knows each
block's whole life; nothing here looks at the snapshot that is written.
"""
import collections

from cuda_allocator import ALLOC
from snapshot_writers import ERAS

GROWTH, RELEASE = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")


# ---- stacks ---------------------------------------------------------------------------------


def site_of(stack):
    """What the label must be, for the stacks of training_program.py."""
    python = [f for f in stack if f[1].endswith(".py") or f[1].startswith("<ipython")]
    user = [f for f in python if "site-packages/torch" not in f[1]]
    backward = [f for f in stack if "Backward" in f[0]]
    operator = [f for f in stack if f[0].startswith("at::_ops")]
    chosen = (user or python or backward or operator)[0]
    return f"{chosen[1]}:{chosen[2]}:{chosen[0]}"


def collapsed(stack):
    return ";".join(f"{f[1].split('/')[-1]}:{f[2]}:{f[0]}" for f in reversed(stack))


class Labels:
    """The site and the stack of an allocation, as far as the snapshot tells. is_shared: equal
    stacks of different calls can be told apart, as they can in a pickle and not in JSON."""

    def __init__(self, is_shared):
        self.sites, self.stacks, self.is_shared = {None: ""}, {None: ""}, is_shared

    def site(self, stack):
        if stack not in self.sites:
            self.sites[stack] = site_of(stack)
        return self.sites[stack]

    def text(self, stack):
        if stack not in self.stacks:
            self.stacks[stack] = collapsed(stack)
        return self.stacks[stack]


# ---- blocks now -----------------------------------------------------------------------------


def row_of(runs, requested_of):
    """Totals over segments, each a list of blocks."""
    blocks = [block for run in runs for block in run]
    allocated = [b for b in blocks if b.is_allocated]
    pending = [b for b in blocks if b.is_active() and not b.is_allocated]
    idle = [b for b in blocks if not b.is_active()]
    requests = [requested_of(b) for b in allocated + pending]
    known, active = None not in requests, sum(b.size for b in allocated + pending)
    return {
        "segment_count": len(runs), "block_count": len(blocks),
        "reserved_bytes": sum(b.size for b in blocks),
        "allocated_bytes": sum(b.size for b in allocated),
        "active_bytes": active,
        "pending_bytes": sum(b.size for b in pending),
        "inactive_bytes": sum(b.size for b in idle),
        "requested_bytes": sum(requests) if known else None,
        "rounding_bytes": active - sum(requests) if known else None,
        "inactive_split_bytes": sum(b.size for b in idle if b.is_split() and not b.reservation),
        "free_segment_bytes": sum(b.size for b in idle if not b.is_split() and not b.reservation),
        "inactive_expandable_bytes": sum(b.size for b in idle if b.reservation),
        "largest_free_bytes": max((b.size for b in idle), default=0),
        "allocated_count": len(allocated), "pending_count": len(pending),
        "inactive_count": len(idle)}


def totals(run, era):
    def requested_of(block):
        return block.requested if era != "1.12" or block.history else None
    has_pools = has_pool_ids(era)
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    segments = []
    for device, allocator in enumerate(run.devices):
        for blocks in allocator.segments():
            head, pool = blocks[0], blocks[0].pool
            groups["totals"]["all"].append(blocks)
            groups["by_device"][str(device)].append(blocks)
            groups["by_pool"]["small" if pool.is_small else "large"].append(blocks)
            groups["by_stream"][str(head.stream)].append(blocks)
            groups["by_pool_id"]["%d,%d" % pool.pool_id if has_pools else "unknown"].append(blocks)
            groups["by_kind"]["expandable" if head.reservation else "plain"].append(blocks)
            segments.append({"device": device, "address": head.ptr,
                             **row_of([blocks], requested_of)})
    rows = {name: {key: row_of(runs, requested_of) for key, runs in sorted(group.items())}
            for name, group in groups.items()}
    names = ("by_device", "by_pool", "by_stream", "by_pool_id", "by_kind")
    return {"totals": rows["totals"]["all"] if segments else row_of([], requested_of),
            **{name: rows.get(name, {}) for name in names}, "segments": segments}


# ---- blocks over time -----------------------------------------------------------------------


def has_pool_ids(era):
    return "dict" in ERAS[era] and era != "cpp"


class DeviceTruth:
    """One device's log as seen through the window that the snapshot holds."""

    def __init__(self, run, device, era, max_entries, labels):
        self.has_pools = has_pool_ids(era)
        self.allocator, self.labels = run.devices[device], labels
        self.has_time, self.has_sizes = "time" in ERAS[era], "requested" in ERAS[era]
        self.first = (run.window_start(device, max_entries) if "dict" in ERAS[era]
                      else len(run.devices[device].log))
        self.log = self.allocator.log
        self.level, self.last = self.allocator.level, len(self.log) - 1

    def visible_stack(self, one):
        if one.alloc_index >= self.first and self.level >= ALLOC:
            return one.stack if one.context else None
        return one.stack if one.done_index is None and one.context else None

    def time_at(self, index):
        return self.log[index].time_us if self.has_time and index >= self.first else None

    def is_active_at(self, one, index):
        return one.alloc_index <= index and (one.done_index is None or one.done_index > index)

    def size_of(self, one):
        """What was asked for; the block's size where the snapshot does not say."""
        return one.requested if self.has_sizes or one.context else one.size

    def curve(self, up, down):
        """start, end, peak of a quantity that entries raise and lower, over the window."""
        value, start, peak, at = 0, 0, None, None
        for index, entry in enumerate(self.log):
            if index == self.first:
                start = peak = value
                at = index - 1
            value += entry.size * ((entry.action in up) - (entry.action in down))
            if index >= self.first and value > peak:
                peak, at = value, index
        if peak is None:
            start, peak, at = value, value, self.first - 1
        return {"start_bytes": start, "end_bytes": value, "peak_bytes": peak,
                "peak_index": at - self.first, "peak_time_us": self.time_at(at)}

    def timeline(self):
        if not self.has_sizes:
            return self.flat_timeline()
        return {"active": self.curve(("alloc",), ("free_completed",)),
                "allocated": self.curve(("alloc",), ("free_requested",)),
                "reserved": self.curve(GROWTH, RELEASE)}

    def flat_timeline(self):
        now = [one for one in self.allocator.allocations if one.done_index is None]
        values = {"active": sum(map(self.size_of, now)),
                  "allocated": sum(self.size_of(one) for one in now if one.free_index is None),
                  "reserved": self.allocator.reserved}
        return {name: {"start_bytes": value, "end_bytes": value, "peak_bytes": value,
                       "peak_index": -1, "peak_time_us": None} for name, value in values.items()}

    def by_site(self, allocations):
        rows = collections.defaultdict(lambda: [0, 0])
        for one in allocations:
            row = rows[self.labels.site(self.visible_stack(one))]
            row[0] += self.size_of(one)
            row[1] += 1
        return [{"site": site, "bytes": size, "count": count} for site, (size, count)
                in sorted(rows.items(), key=lambda item: (-item[1][0], item[0]))]

    def live(self, index):
        alive = [one for one in self.allocator.allocations if self.is_active_at(one, index)]
        stacks = collections.Counter()
        for one in alive:
            stacks[self.labels.text(self.visible_stack(one))] += self.size_of(one)
        return {"count": len(alive), "bytes": sum(map(self.size_of, alive)),
                "sites": self.by_site(alive), "stacks": dict(sorted(stacks.items()))}

    def inside(self):
        return [one for one in self.allocator.allocations if one.alloc_index >= self.first]

    def never_freed(self):
        kept = [one for one in self.inside() if one.free_index is None]
        return {"count": len(kept), "bytes": sum(one.requested for one in kept),
                "sites": self.by_site(kept)}

    def lifetimes(self):
        rows = {}
        for one in self.inside():
            site = self.labels.site(self.visible_stack(one))
            row = rows.setdefault(site, {"site": site, "count": 0, "bytes": 0, "freed_count": 0,
                                         "lifetime_entries": 0, "longest_entries": 0,
                                         "lifetime_us": 0, "longest_us": 0})
            row["count"] += 1
            row["bytes"] += one.requested
            if one.free_index is None:
                continue
            entries = one.free_index - one.alloc_index
            span = self.log[one.free_index].time_us - self.log[one.alloc_index].time_us
            row["freed_count"] += 1
            row["lifetime_entries"] += entries
            row["longest_entries"] = max(row["longest_entries"], entries)
            row["lifetime_us"] += span
            row["longest_us"] = max(row["longest_us"], span)
        if not self.has_time:
            for row in rows.values():
                row["lifetime_us"] = row["longest_us"] = None
        return sorted(rows.values(), key=lambda row: (-row["bytes"], row["site"]))

    def is_same_call(self, one, other):
        if one is other:
            return True
        return not self.labels.is_shared and bool(one and other) and one.stack == other.stack

    def churn(self):
        window = self.log[self.first:]
        made = {}
        for action in GROWTH + RELEASE:
            sizes = [entry.size for entry in window if entry.action == action]
            made[action + "_count"], made[action + "_bytes"] = len(sizes), sum(sizes)
        made["retry_count"] = sum(
            before.action in RELEASE and after.action in GROWTH
            and self.is_same_call(before.context, after.context)
            for before, after in zip(window, window[1:]))
        return made

    def ooms(self):
        rows = []
        for oom in self.allocator.ooms:
            index = oom["index"]
            if index < self.first:
                continue
            alive = [one for one in self.allocator.allocations if self.is_active_at(one, index)]
            cached = oom["free_bytes"][self.has_pools]
            free = oom["device_free"] + cached
            low, high = oom["page_bytes"][self.has_pools]
            rows.append({
                "index": index - self.first, "time_us": self.time_at(index), "size": oom["size"],
                "device_free": oom["device_free"], "reserved_bytes": oom["reserved_bytes"],
                "live_bytes": sum(one.requested for one in alive),
                "largest_free_bytes": oom["largest_free_bytes"][self.has_pools],
                "free_bytes": cached,
                "unfragmented_free_bytes": free, "would_fit_unfragmented": oom["size"] <= free,
                "pages_low_bytes": oom["device_free"] + low,
                "pages_high_bytes": oom["device_free"] + high})
        return rows

    def figures(self):
        line = self.timeline()
        actions = collections.Counter(entry.action for entry in self.log[self.first:])
        return {"entry_count": len(self.log) - self.first, "actions": dict(sorted(actions.items())),
                "timeline": line,
                "live_at_peak": self.live(line["active"]["peak_index"] + self.first),
                "live_at_end": self.live(self.last), "never_freed": self.never_freed(),
                "lifetimes": self.lifetimes(), "churn": self.churn(), "ooms": self.ooms()}


def figures(run, era, max_entries, is_json=False):
    labels = Labels(is_shared=not is_json)
    devices = {str(device): DeviceTruth(run, device, era, max_entries, labels).figures()
               for device in range(len(run.devices))}
    actions = collections.Counter()
    for device in devices.values():
        actions.update(device["actions"])
    return {**totals(run, era), "entry_count": sum(actions.values()),
            "actions": dict(sorted(actions.items())), "devices": devices}


# ---- what only the simulation knows ---------------------------------------------------------


def torch_statistics(allocator):
    """torch.cuda.memory_stats() of the device, with the peaks of its whole life."""
    made = {"num_alloc_retries": allocator.retry_count, "num_ooms": len(allocator.ooms)}
    changes = {"allocated_bytes": ("alloc", "free_requested", "size"),
               "active_bytes": ("alloc", "free_completed", "size"),
               "requested_bytes": ("alloc", "free_completed", "requested")}
    for name, (up, down, field) in changes.items():
        value = peak = 0
        for entry in allocator.log:
            if entry.action in (up, down):
                value += getattr(entry.owner, field) * (1 if entry.action == up else -1)
                peak = max(peak, value)
        made[name + ".all.current"], made[name + ".all.peak"] = value, peak
    made["reserved_bytes.all.current"] = allocator.reserved
    made["inactive_split_bytes.all.current"] = sum(
        b.size for b in allocator.blocks.values()
        if not b.is_active() and b.is_split() and not b.reservation)
    return made


def leaks(allocator):
    kept = [one for one in allocator.allocations if one.tag == "leak" and one.free_index is None]
    return {"count": len(kept), "bytes": sum(one.requested for one in kept)}


def by_tag(allocator, index):
    tags = collections.Counter()
    for one in allocator.allocations:
        if one.alloc_index <= index and (one.done_index is None or one.done_index > index):
            tags[one.tag] += one.requested
    return dict(sorted(tags.items()))


def simulation_only(run, found, max_entries):
    """Also for the C code's heuristics: which blocks are leaks, what each was for."""
    made = {}
    for device, allocator in enumerate(run.devices):
        peak = found["devices"].get(str(device), {}).get("timeline", {}).get("active", {})
        first = run.window_start(device, max_entries)
        made[str(device)] = {
            "torch": torch_statistics(allocator), "leaks": leaks(allocator),
            "purpose_at_peak": by_tag(allocator, first + peak.get("peak_index", -1)),
            "lost_entries": first, "recorded_from": allocator.record_start}
    return made


