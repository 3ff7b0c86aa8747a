#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads snapshots of CUDA's allocator by the shortest way that is plainly right, and works out the
figures that `tscope memory` must agree with. Runs no code of a pickle.

usage: snapshot.py FILE...              prints the figures as JSON
       snapshot.py --totals FOLDER...   one line for each snapshot below the folders
       snapshot.py --check [COUNT [FIRST_SEED]]   against the truth of generated snapshots
"""
import base64
import collections
import io
import json
import pathlib
import pickle
import re
import subprocess
import sys
import zlib

GROWTH, RELEASE = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
ACTIVE = ("active_allocated", "active_pending_free", "active_awaiting_free")
ROUNDING, PAGE, SMALL_REQUEST, SMALL_SEGMENT = 512, 2 << 20, 1 << 20, 2 << 20
EXPANDABLE_PAGE = {"small": 2 << 20, "large": 20 << 20}
BASE64_FIELD = re.compile(r'"base64"\s*:\s*"([A-Za-z0-9+/=]+)"')


class NotASnapshot(Exception):
    """Some other file, or one that wants code to run."""


# ---- reading --------------------------------------------------------------------------------


class PlainUnpickler(pickle.Unpickler):
    """Containers only: every other name that a pickle asks for is refused."""
    HARMLESS = {("collections", "defaultdict"): collections.defaultdict,
                ("collections", "OrderedDict"): collections.OrderedDict,
                ("builtins", "dict"): dict, ("__builtin__", "dict"): dict,
                ("torch", "Size"): tuple}

    def find_class(self, module, name):
        if (module, name) not in self.HARMLESS:
            raise NotASnapshot(f"asks for {module}.{name}")
        return self.HARMLESS[module, name]

    def persistent_load(self, pid):
        raise NotASnapshot("holds persistent ids")


class StackSharer:
    """Equal stacks become one list: what a pickle tells of who shares a stack, JSON does not."""

    def __init__(self):
        self.made = {}

    def share(self, record):
        if record.get("frames"):
            key = tuple((f["filename"], f["line"], f["name"]) for f in record["frames"])
            record["frames"] = self.made.setdefault(key, record["frames"])
        return record


def read_bytes(path):
    data = pathlib.Path(path).read_bytes()
    if data.startswith(b"\x1f\x8b"):
        return zlib.decompress(data, 31)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return subprocess.run(["zstd", "-dc", path], stdout=subprocess.PIPE, check=True).stdout
    return data


def unpickle(data):
    try:
        return PlainUnpickler(io.BytesIO(data)).load()
    except (ValueError, EOFError, IndexError, KeyError, pickle.UnpicklingError) as error:
        raise NotASnapshot(str(error)) from error


def load(path):
    """The snapshot as plain data."""
    data = read_bytes(path)
    page = BASE64_FIELD.search(data.decode("latin-1")) if b"<html" in data[:400].lower() else None
    if page:
        data = base64.b64decode(page.group(1))
    if data[:1] in b"{[ \n":
        snapshot = json.loads(data, object_hook=StackSharer().share)
    else:
        snapshot = unpickle(data)
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot}
    segments = snapshot.get("segments") if isinstance(snapshot, dict) else None
    if not isinstance(segments, list) or any(
            not isinstance(one, dict) or "blocks" not in one for one in segments):
        raise NotASnapshot("no segments")
    return snapshot


# ---- stacks ---------------------------------------------------------------------------------

FOLDED = re.compile(r"-packages/(torch|functorch|torchgen|triton|einops|accelerate|bitsandbytes|apex)/"
                    r"|-packages/flash_attn/(flash_attn_interface|bert_padding)\.py"
                    r"|-packages/(xformers/ops|transformers/integrations)/"
                    r"|-packages/transformers/(activations|pytorch_utils)\.py"
                    r"|/pytorch/torch/|^torch/"
                    r"|/torchinductor_|^<frozen |^<string>$|^<eval_with_key>")


def is_folded(frame):
    """Layers over torch, and what a library has to move something to a device."""
    file = frame["filename"].replace("\\", "/")
    moves = "-packages/" in file and frame["name"] in ("to", "cuda", "_apply")
    return moves or bool(FOLDED.search(file))


def is_python(frame):
    name = frame["filename"]
    return name.endswith(".py") or (name.startswith("<") and name.endswith(">"))


# Where Python is not on the stack: what tells most, and what tells nothing.
NODE, OPERATOR = re.compile(r"Backward|AccumulateGrad"), re.compile(r"^at::_ops::")
PLUMBING = re.compile(r"unwind::unwind|CapturedTraceback::gather|gather_with_cpp|CachingAllocator")


def site_of(frames):
    """The innermost frame of the user; else of Python, of autograd's nodes, of operators, of what
    is not the allocator's own; else of all."""
    if not frames:
        return ""
    python = [f for f in frames if is_python(f)]
    ranked = ([f for f in python if not is_folded(f)], python,
              [f for f in frames if NODE.search(f["name"])],
              [f for f in frames if OPERATOR.search(f["name"])],
              [f for f in frames if not PLUMBING.search(f["name"])], frames)
    frame = next(kind for kind in ranked if kind)[0]
    return f"{frame['filename']}:{frame['line']}:{frame['name']}"


ENGINE = re.compile(r"Backward|AccumulateGrad|torch::autograd::Engine::")
COMMUNICATION = re.compile(r"^(_ddp_init_helper|_alloc_padded_unsharded_flat_param|foreach_all_gather"
                           r"|(init|alloc)_all_gather_outputs|foreach_reduce)$|c10d::Reducer::")
OPTIMIZER = re.compile(r"(^|/)torch/optim/|/(apex/optimizers|bitsandbytes/optim"
                       r"|megatron/core/optimizer|transformer_engine/pytorch/optimizers)/")
KV_CACHE_FILE = re.compile(r"/transformers/cache_utils\.py|/mem_cache/memory_pool\.py")
KV_CACHE_NAME = re.compile(r"(allocate|initialize)_kv_cache")
BASE_MODULE = re.compile(r"(/|^)torch/nn/modules/module\.py")
PARAMETER_FILE = re.compile(r"/torch/nn/init\.py|/torch/serialization\.py|/safetensors/"
                            r"|/param_and_grad_buffer\.py")
FILLS = ("reset_parameters", "create_weights", "load_state_dict", "_load_from_state_dict")


def role_of_frame(frame):
    file, name = frame["filename"].replace("\\", "/"), frame["name"]
    if COMMUNICATION.search(name):
        return "communication"
    if ENGINE.search(name) or (is_python(frame) and name in ("backward", "_engine_run_backward")):
        return "backward"
    if OPTIMIZER.search(file):
        return "optimizer"
    if KV_CACHE_FILE.search(file) or KV_CACHE_NAME.search(name):
        return "kv_cache"
    is_module = BASE_MODULE.search(file)
    if (PARAMETER_FILE.search(file) or name in FILLS
            or (is_module and name in ("_apply", "to", "cuda"))
            or (name == "__init__" and re.search(r"(^|/)torch/nn/modules/", file))):
        return "parameter"
    if (is_module and name in ("_call_impl", "_wrapped_call_impl")) or (
            is_python(frame) and name == "forward"):
        return "forward"
    return "other"


def role_of(frames):
    """The innermost frame that is sure decides; a module that is filled or called is less so, and an
    optimizer around the call of a module runs a closure."""
    roles = [role_of_frame(f) for f in frames or ()]
    for index, role in enumerate(roles):
        if role in ("communication", "backward", "kv_cache") or (
                role == "optimizer" and "forward" not in roles[:index]):
            return role
    if not roles:
        return "unknown"
    return "parameter" if "parameter" in roles else "forward" if "forward" in roles else "other"


def collapsed(frames):
    """Outermost first, as flame graphs want it."""
    return ";".join(
        f"{f['filename'].replace(chr(92), '/').split('/')[-1]}:{f['line']}:{f['name']}"
        .replace(";", ":") for f in reversed(frames))


class Labels:
    """Sites, stacks and roles, worked out once for each list of frames."""

    def __init__(self):
        self.made = {}

    def get(self, frames):
        """(site, stack, role)."""
        key = id(frames)
        if key not in self.made:
            self.made[key] = (site_of(frames), collapsed(frames or ()), role_of(frames), frames)
        return self.made[key][:3]


# ---- blocks at the end ----------------------------------------------------------------------


def frames_of(block):
    if "frames" in block:
        return block["frames"]
    history = block.get("history")
    return history[0].get("frames") if history else None


def requested_of(block):
    """Bytes asked for, None where the snapshot does not say."""
    history = block.get("history")
    return block.get("requested_size", history[0]["real_size"] if history else None)


def blocks_of(segment):
    """(address, block), also where old snapshots leave the address out."""
    address = segment["address"]
    for block in segment["blocks"]:
        yield block.get("address", address), block
        address += block["size"]


def totals_of(segments):
    """One row of totals."""
    row = collections.Counter(dict.fromkeys((
        "segment_count", "block_count", "reserved_bytes", "allocated_bytes", "active_bytes",
        "pending_bytes", "inactive_bytes", "inactive_split_bytes", "free_segment_bytes",
        "inactive_expandable_bytes", "largest_free_bytes", "allocated_count", "pending_count",
        "inactive_count"), 0))
    requests = []
    for segment in segments:
        row["segment_count"] += 1
        row["reserved_bytes"] += segment["total_size"]
        for block in segment["blocks"]:
            size = block["size"]
            row["block_count"] += 1
            if block["state"] in ACTIVE:
                kind = "allocated" if block["state"] == "active_allocated" else "pending"
                row["active_bytes"] += size
                requests.append(requested_of(block))
            else:
                kind = "inactive"
                row[free_kind(segment)] += size
                row["largest_free_bytes"] = max(row["largest_free_bytes"], size)
            row[kind + "_bytes"] += size
            row[kind + "_count"] += 1
    is_known = None not in requests
    return {**row, "requested_bytes": sum(requests) if is_known else None,
            "rounding_bytes": row["active_bytes"] - sum(requests) if is_known else None}


def free_kind(segment):
    if segment.get("is_expandable"):
        return "inactive_expandable_bytes"
    return "inactive_split_bytes" if len(segment["blocks"]) > 1 else "free_segment_bytes"


def pool_of(segment):
    pool = segment.get("segment_pool_id")
    return "unknown" if pool is None else f"{pool[0]},{pool[1]}"


GROUPS = {
    "by_device": lambda s: str(s["device"]), "by_pool": lambda s: s["segment_type"],
    "by_stream": lambda s: str(s["stream"]), "by_pool_id": pool_of,
    "by_kind": lambda s: "expandable" if s.get("is_expandable") else "plain"}


def grouped(segments, key_of):
    groups = collections.defaultdict(list)
    for segment in segments:
        groups[key_of(segment)].append(segment)
    return {key: totals_of(group) for key, group in sorted(groups.items())}


# ---- blocks over time -----------------------------------------------------------------------


class Block:
    """A block's life by index into the entries. born None: before the first one."""

    def __init__(self, addr, size, frames, born):
        self.addr, self.size, self.frames, self.born = addr, size, frames, born
        self.asked = self.died = None  # free requested, free completed
        self.block_size, self.is_pending = None, False  # of those that are there at the end

    def is_live(self, index):
        return ((self.born is None or self.born <= index)
                and (self.died is None or self.died > index))


def lives(entries, segments):
    """Every block that the window or the end knows of. An allocation is matched by its address with
    the next end of that address; an end without a beginning, and what is there at the end without
    one, were there before the first entry."""
    blocks, open_at = [], {}

    def at(entry):
        if entry["addr"] not in open_at:
            blocks.append(Block(entry["addr"], entry["size"], None, None))
            open_at[entry["addr"]] = blocks[-1]
        return open_at[entry["addr"]]

    for index, entry in enumerate(entries):
        if entry["action"] == "alloc":
            blocks.append(Block(entry["addr"], entry["size"], entry.get("frames"), index))
            open_at[entry["addr"]] = blocks[-1]
        elif entry["action"] == "free_requested":
            at(entry).asked = index
        elif entry["action"] == "free_completed":
            at(entry).died = index
            del open_at[entry["addr"]]
    for segment in segments:
        for address, block in blocks_of(segment):
            if block["state"] not in ACTIVE:
                continue
            if address not in open_at:
                requested = requested_of(block)
                open_at[address] = Block(address, block["size"] if requested is None else requested,
                                         None, None)
                blocks.append(open_at[address])
            open_at[address].frames = open_at[address].frames or frames_of(block)
            open_at[address].block_size = block["size"]
            open_at[address].is_pending = block["state"] != "active_allocated"
    return blocks


def backwards(entries, end, up, down):
    """The curve of a quantity from its end: values[i + 1] is the one after entry i."""
    values = [end]
    for entry in reversed(entries):
        values.append(values[-1] - entry["size"] * ((entry["action"] in up)
                                                    - (entry["action"] in down)))
    values.reverse()
    at = values.index(max(values)) - 1
    return values, {"start_bytes": values[0], "end_bytes": end, "peak_bytes": max(values),
                    "peak_index": at,
                    "peak_time_us": entries[at].get("time_us") if at >= 0 else None}


class Device:
    """One device's entries and segments."""

    def __init__(self, entries, segments, labels):
        self.entries, self.segments, self.labels = entries, segments, labels
        self.blocks = lives(entries, segments)
        self.has_time = all("time_us" in entry for entry in entries) and bool(entries)
        last = len(entries) - 1
        now = [b for b in self.blocks if b.is_live(last)]
        ends = {"active": sum(b.size for b in now),
                "allocated": sum(b.size for b in now if not b.is_pending),
                "reserved": sum(s["total_size"] for s in segments)}
        self.values, self.timeline = {}, {}
        for name, up, down in (("active", ("alloc",), ("free_completed",)),
                               ("allocated", ("alloc",), ("free_requested",)),
                               ("reserved", GROWTH, RELEASE)):
            self.values[name], self.timeline[name] = backwards(entries, ends[name], up, down)

    def by_site(self, blocks):
        rows = {}
        for block in blocks:
            site = self.labels.get(block.frames)[0]
            row = rows.setdefault(site, {"site": site, "bytes": 0, "count": 0})
            row["bytes"] += block.size
            row["count"] += 1
        return sorted(rows.values(), key=lambda row: (-row["bytes"], row["site"]))

    def live(self, index):
        alive = [b for b in self.blocks if b.is_live(index)]
        stacks = collections.Counter()
        for block in alive:
            stacks[self.labels.get(block.frames)[1]] += block.size
        return {"count": len(alive), "bytes": sum(b.size for b in alive),
                "sites": self.by_site(alive), "stacks": dict(sorted(stacks.items()))}

    def by_role(self, index):
        """What was live, by what it was for, and the site and the file with most of each."""
        parts = collections.defaultdict(list)
        for block in self.blocks:
            role = self.labels.get(block.frames)[2]
            if block.is_live(index):
                is_earlier = role == "unknown" and block.born is None and self.entries
                parts["earlier" if is_earlier else role].append(block)
        return {role: self.role_row(blocks) for role, blocks in parts.items()}

    def oom_by_role(self):
        """Of the last request that failed."""
        failed = [i for i, entry in enumerate(self.entries) if entry["action"] == "oom"]
        return self.by_role(failed[-1]) if failed else {}

    def role_row(self, blocks):
        sites, files = self.by_site(blocks), collections.Counter()
        for one in sites:
            if ".py:" in one["site"]:
                files[one["site"].split(".py:")[0] + ".py"] += one["bytes"]
        file = min(files, key=lambda name: (-files[name], name), default="")
        return {"bytes": sum(b.size for b in blocks), "count": len(blocks),
                "site": sites[0]["site"], "site_bytes": sites[0]["bytes"], "file": file,
                "file_bytes": files[file]}

    def never_freed(self):
        kept = [b for b in self.blocks if b.born is not None and b.asked is None]
        return {"count": len(kept), "bytes": sum(b.size for b in kept), "sites": self.by_site(kept)}

    def lifetimes(self):
        rows = {}
        for block in self.blocks:
            if block.born is None:
                continue
            site = self.labels.get(block.frames)[0]
            row = rows.setdefault(site, {
                "site": site, "count": 0, "bytes": 0, "freed_count": 0, "lifetime_entries": 0,
                "longest_entries": 0, "lifetime_us": 0 if self.has_time else None,
                "longest_us": 0 if self.has_time else None})
            row["count"] += 1
            row["bytes"] += block.size
            if block.asked is not None:
                self.add_life(row, block)
        return sorted(rows.values(), key=lambda row: (-row["bytes"], row["site"]))

    def add_life(self, row, block):
        entries = block.asked - block.born
        row["freed_count"] += 1
        row["lifetime_entries"] += entries
        row["longest_entries"] = max(row["longest_entries"], entries)
        if self.has_time:
            span = self.entries[block.asked]["time_us"] - self.entries[block.born]["time_us"]
            row["lifetime_us"] += span
            row["longest_us"] = max(row["longest_us"], span)

    def churn(self):
        made = {}
        for action in GROWTH + RELEASE:
            sizes = [e["size"] for e in self.entries if e["action"] == action]
            made[action + "_count"], made[action + "_bytes"] = len(sizes), sum(sizes)
        made["retry_count"] = sum(
            before["action"] in RELEASE and after["action"] in GROWTH
            and before.get("frames") is after.get("frames")
            for before, after in zip(self.entries, self.entries[1:]))
        return made

    def ooms(self):
        return [self.oom(index, entry) for index, entry in enumerate(self.entries)
                if entry["action"] == "oom"]

    def oom(self, index, entry):
        """What was free when a request failed, from the layout at that moment."""
        layout, is_exact = layout_at(self.segments, self.entries, index)
        alive = [b for b in self.blocks if b.is_live(index)]
        is_exact = is_exact and all(b.block_size is not None for b in alive)
        gaps = gaps_of(layout, alive)
        kind = "small" if entry["size"] <= SMALL_REQUEST else "large"
        usable = [size for size, where in gaps if where == (entry["stream"], kind, "0,0")]
        free = sum(size for size, where in gaps if where[2] == "0,0")
        return {"index": index, "time_us": entry.get("time_us"), "size": entry["size"],
                "device_free": entry["device_free"],
                "reserved_bytes": self.values["reserved"][index + 1],
                "live_bytes": self.values["active"][index + 1],
                "largest_free_bytes": max(usable, default=0), "free_bytes": free,
                "unfragmented_free_bytes": entry["device_free"] + free,
                "would_fit_unfragmented": entry["size"] <= entry["device_free"] + free,
                "pages_low_bytes": entry["device_free"] + whole_pages(gaps, 1),
                "pages_high_bytes": entry["device_free"] + whole_pages(gaps, 0),
                "is_exact": is_exact}

    def figures(self):
        actions = collections.Counter(e["action"] for e in self.entries)
        return {"entry_count": len(self.entries), "actions": dict(sorted(actions.items())),
                "timeline": self.timeline,
                "live_at_peak": self.live(self.timeline["active"]["peak_index"]),
                "live_at_end": self.live(len(self.entries) - 1),
                "by_role": self.by_role(self.timeline["active"]["peak_index"]),
                "never_freed": self.never_freed(), "lifetimes": self.lifetimes(),
                "churn": self.churn(), "ooms": self.ooms(), "oom_by_role": self.oom_by_role()}


# ---- the layout at some entry ---------------------------------------------------------------


def layout_at(segments, entries, index):
    """{address: (size, where)} just after entry index: the end's, with what came later undone.
    where: (stream, small or large, private pool). And whether all of it is known."""
    plain, pages, is_exact = {}, {}, True
    for segment in segments:
        pool = pool_of(segment).replace("unknown", "0,0")
        where = (segment["stream"], segment["segment_type"], pool)
        if segment.get("is_expandable"):
            pages.update(dict.fromkeys(range(segment["address"], segment["address"]
                                             + segment["total_size"], PAGE), where))
        else:
            plain[segment["address"]] = (segment["total_size"], where)
    for entry in reversed(entries[index + 1:]):
        action, addr, size = entry["action"], entry.get("addr"), entry["size"]
        if action == "segment_alloc":
            plain.pop(addr, None)
        elif action == "segment_map":
            for page in range(addr, addr + size, PAGE):
                pages.pop(page, None)
        elif action in RELEASE:
            is_exact = False
            kind = "small" if size == SMALL_SEGMENT else "large"
            where = (entry["stream"], kind, "%d,%d" % tuple(entry.get("pool_id", (0, 0))))
            if action == "segment_free":
                plain[addr] = (size, where)
            else:
                pages.update(dict.fromkeys(range(addr, addr + size, PAGE), where))
    return {**plain, **runs_of(pages)}, is_exact


def runs_of(pages):
    """Neighbouring pages of one kind as ranges."""
    runs, last = {}, None
    for page in sorted(pages):
        if last is not None and sum_end(runs, last) == page and runs[last][1] == pages[page]:
            runs[last] = (runs[last][0] + PAGE, runs[last][1])
        else:
            last = page
            runs[page] = (PAGE, pages[page])
    return runs


def sum_end(runs, address):
    return address + runs[address][0]


def gaps_of(layout, alive):
    """(size, where) of each stretch of a segment that no live block covers. The size of a block
    that is gone at the end is not known, only what it was asked for: rounded up, the least it can
    be."""
    taken = sorted((b.addr, b.block_size if b.block_size is not None else
                    max(ROUNDING, -(-b.size // ROUNDING) * ROUNDING)) for b in alive)
    gaps, at = [], 0
    for address, (size, where) in sorted(layout.items()):
        position, end = address, address + size
        while at < len(taken) and taken[at][0] < address:
            at += 1
        while at < len(taken) and taken[at][0] < end:
            if taken[at][0] > position:
                gaps.append((taken[at][0] - position, where))
            position = max(position, sum(taken[at]))
            at += 1
        if position < end:
            gaps.append((end - position, where))
    return gaps


def whole_pages(gaps, lost):
    """Bytes of the gaps that expandable segments could give back, or use elsewhere: whole pages. A
    gap may begin anywhere in one, so that one page less than fit is sure."""
    total = 0
    for size, where in gaps:
        page = EXPANDABLE_PAGE[where[1]]
        total += max(0, size // page - lost) * page if where[2] == "0,0" else 0
    return total


# ---- all figures ----------------------------------------------------------------------------


def figures(snapshot):
    segments, traces = snapshot["segments"], snapshot.get("device_traces", [])
    labels = Labels()
    numbers = {segment["device"] for segment in segments} | set(range(len(traces)))
    devices = {
        str(number): Device(traces[number] if number < len(traces) else [],
                            [s for s in segments if s["device"] == number], labels).figures()
        for number in sorted(numbers)}
    actions = collections.Counter()
    for device in devices.values():
        actions.update(device["actions"])
    return {"totals": totals_of(segments),
            **{name: grouped(segments, key_of) for name, key_of in GROUPS.items()},
            "segments": [{"device": s["device"], "address": s["address"], **totals_of([s])}
                         for s in segments],
            "entry_count": sum(actions.values()), "actions": dict(sorted(actions.items())),
            "devices": devices}


# ---- main -----------------------------------------------------------------------------------


def brief(path, found):
    """A line of totals."""
    total = found["totals"]
    peaks = {number: device["timeline"]["active"]["peak_bytes"]
             for number, device in found["devices"].items()}
    return {"file": str(path), "segments": total["segment_count"], "blocks": total["block_count"],
            **{name: total[name + "_bytes"] for name in (
                "reserved", "allocated", "active", "pending", "requested", "inactive",
                "inactive_split", "free_segment", "rounding", "largest_free")},
            "entries": {n: d["entry_count"] for n, d in found["devices"].items()},
            "actions": found["actions"], "peak_live": peaks}


def snapshots_below(folders):
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.p*k*l*")):
            if not path.name.endswith(".json"):
                yield path, folder


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--check"]:
        import check_snapshot
        return check_snapshot.main(arguments[1:])
    if arguments[:1] == ["--totals"]:
        for path, folder in snapshots_below(arguments[1:]):
            print(json.dumps(brief(path.relative_to(folder), figures(load(path)))))
        return 0
    for path in arguments:
        print(json.dumps(figures(load(path)), indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
