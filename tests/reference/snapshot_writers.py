# SPDX-License-Identifier: MIT
"""A simulated allocator written as each era of PyTorch writes its snapshots: the same keys in the
same order, and the same objects shared, because a pickle shows what was shared.
"""
import gzip
import json
import os
import pickle
import shutil
import struct
import subprocess

# has: what an era's snapshots hold.
ERAS = {
    "1.12": {"history"},
    "2.0": {"history", "dict", "requested"},
    "2.1": {"dict", "requested", "expandable", "settings"},
    "2.6": {"dict", "requested", "expandable", "settings", "time", "annotations"},
    "2.7": {"dict", "requested", "expandable", "settings", "time", "annotations",
            "compile_context"},
    "2.9": {"dict", "requested", "expandable", "settings", "time", "annotations",
            "compile_context", "user_metadata"},
    "2.14": {"dict", "requested", "expandable", "settings", "time", "annotations",
             "compile_context", "user_metadata", "pool_id", "fx", "host"},
    "cpp": {"dict", "requested", "expandable", "settings", "time", "cpp"},
}


def fresh(text):
    """An equal string that is another object: the writer makes one each time."""
    return text.encode().decode()


class Builder:
    """One simulation as the plain data that torch.cuda.memory._snapshot() returns."""

    def __init__(self, run, era, max_entries):
        self.run, self.has, self.max_entries = run, ERAS[era], max_entries
        self.frames, self.lists, self.empty = {}, {}, []

    def frame(self, frame):
        if frame not in self.frames:
            name, file, line = frame
            made = {"name": fresh(name), "filename": fresh(file), "line": line}
            if "fx" in self.has and file.endswith("mlp.py"):
                made.update(fx_node_op="call_function", fx_node_name=fresh("linear"),
                            fx_node_info="", fx_original_trace=fresh("  x = self.up(x)\n"))
            self.frames[frame] = made
        return self.frames[frame]

    def stack(self, context):
        """Each gathered stack is a list of its own, of shared frames."""
        if context is None:
            return self.empty
        if id(context) not in self.lists:
            self.lists[id(context)] = [self.frame(frame) for frame in context.stack]
        return self.lists[id(context)]

    def block(self, block, address):
        state = ("active_allocated" if block.is_allocated
                 else "active_pending_free" if block.is_active() else "inactive")
        made = {} if "history" in self.has else {"address": address}
        made["size"] = block.size
        if "requested" in self.has:
            made["requested_size"] = block.requested
        made["state"] = state
        if "history" not in self.has:
            made["frames"] = self.stack(block.context)
        elif block.history:
            addr, real_size, context = block.history
            made["history"] = [{"addr": addr, "real_size": real_size,
                                "frames": self.stack(context)}]
        return made

    def segment(self, device, run):
        head, active = run[0], [b for b in run if b.is_active()]
        made = {"device": device, "address": head.ptr, "total_size": sum(b.size for b in run),
                "allocated_size": sum(b.size for b in run if b.is_allocated),
                "active_size": sum(b.size for b in active)}
        if "requested" in self.has:
            made["requested_size"] = sum(b.requested for b in active)
        made["stream"] = head.stream
        made["segment_type"] = "small" if head.pool.is_small else "large"
        if "dict" in self.has and "cpp" not in self.has:
            made["segment_pool_id"] = tuple(head.pool.pool_id)
        if "expandable" in self.has:
            made["is_expandable"] = head.reservation is not None
            made["frames"] = self.stack(head.segment_context)
        made["blocks"] = [self.block(block, block.ptr) for block in run]
        return made

    def entry(self, entry):
        made = {"action": entry.action,
                "device_free" if entry.action == "oom" else "addr": entry.addr,
                "size": entry.size, "stream": entry.stream}
        if "time" in self.has:
            made["time_us"] = entry.time_us
        if "compile_context" in self.has:
            made["compile_context"] = fresh("N/A")
        if "user_metadata" in self.has:
            made["user_metadata"] = ""
        if "pool_id" in self.has:
            made["pool_id"] = tuple(entry.pool_id)
        if entry.context:
            made["frames"] = self.stack(entry.context)
        return made

    def settings(self):
        first = self.run.settings[0]
        text = ["expandable_segments:True"] if first.is_expandable else []
        is_split_limited = first.max_split_size != float("inf")
        if is_split_limited:
            text.append(f"max_split_size_mb:{first.max_split_size >> 20}")
        made = {"PYTORCH_CUDA_ALLOC_CONF": ",".join(text),
                "max_split_size": first.max_split_size if is_split_limited else -1,
                "garbage_collection_threshold": 0.0,
                "expandable_segments": first.is_expandable, "pinned_num_register_threads": 1,
                "release_lock_on_cudamalloc": False, "pinned_use_cuda_host_register": False}
        if "user_metadata" in self.has:
            made["graph_capture_record_stream_reuse"] = False
        if "host" in self.has:
            made["trace_alloc_max_entries"] = self.max_entries or 1 << 62
            made["trace_alloc_overflowed"] = any(
                self.run.window_start(device, self.max_entries) > (allocator.record_start or 0)
                for device, allocator in enumerate(self.run.devices)
                if allocator.record_start is not None)
        made["roundup_power2_divisions"] = {str(1 << i): 0 for i in range(16)}
        return made

    def build(self):
        segments = [self.segment(device, run) for device, allocator in enumerate(self.run.devices)
                    for run in allocator.segments()]
        if "dict" not in self.has:
            return segments
        made = {"segments": segments,
                "device_traces": [[self.entry(e) for e in self.run.window(device, self.max_entries)]
                                  for device in range(len(self.run.devices))]}
        if "settings" in self.has:
            made["allocator_settings"] = self.settings()
        if "annotations" in self.has:
            made["external_annotations"] = [dict(row) for row in self.run.annotations]
        if "host" in self.has:
            made["host_segments"], made["host_traces"] = [], []
        return made


class TorchScriptPickler:
    """The writer in C++: protocol 2, strings by value, containers memoised once they are full."""

    def __init__(self, file):
        self.file, self.strings, self.objects, self.count = file, {}, {}, 0

    def dump(self, value):
        self.file.write(b"\x80\x02")
        self.push(value)
        self.file.write(b".")

    def put(self):
        number, self.count = self.count, self.count + 1
        self.file.write(struct.pack("<cB", b"q", number) if number < 256
                        else struct.pack("<cI", b"r", number))
        return number

    def get(self, number):
        self.file.write(struct.pack("<cB", b"h", number) if number < 256
                        else struct.pack("<cI", b"j", number))

    def push(self, value):
        if isinstance(value, (bool, int)):
            self.file.write(self.number(value))
        elif isinstance(value, float):
            self.file.write(b"G" + struct.pack(">d", value))
        elif isinstance(value, str):
            self.text(value)
        elif id(value) in self.objects:
            self.get(self.objects[id(value)])
        elif isinstance(value, dict):
            self.container(b"}", [item for pair in value.items() for item in pair], b"u")
            if value.get("frames") or "filename" in value:
                self.objects[id(value)] = self.put()
        else:
            self.container(b"]", value, b"e")
            if value and isinstance(value[0], dict) and "filename" in value[0]:
                self.objects[id(value)] = self.put()

    @staticmethod
    def number(value):
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if 0 <= value < 1 << 8:
            return struct.pack("<cB", b"K", value)
        if 0 <= value < 1 << 16:
            return struct.pack("<cH", b"M", value)
        if -1 << 31 <= value < 1 << 31:
            return struct.pack("<ci", b"J", value)
        return b"\x8a\x08" + struct.pack("<q", value)

    def text(self, value):
        if value in self.strings:
            self.get(self.strings[value])
            return
        data = value.encode()
        self.file.write(b"X" + struct.pack("<I", len(data)) + data)
        self.strings[value] = self.put()

    def container(self, empty, items, end):
        self.file.write(empty)
        if items:
            self.file.write(b"(")
            for item in items:
                self.push(item)
            self.file.write(end)


def write(data, path, is_cpp=False, protocol=4, is_json=False):
    """Writes the snapshot; .gz and .zst say how it is compressed."""
    name = str(path)
    plain = name.removesuffix(".gz").removesuffix(".zst")
    with open(plain, "wb") as file:
        if is_json:
            file.write(json.dumps(data).encode())
        elif is_cpp:
            TorchScriptPickler(file).dump(data)
        else:
            pickle.dump(data, file, protocol)
    if name.endswith(".gz"):
        with open(plain, "rb") as source, open(name, "wb") as target:
            with gzip.GzipFile("", "wb", 6, target, mtime=0) as packed:
                shutil.copyfileobj(source, packed, 1 << 20)
        os.remove(plain)
    elif name.endswith(".zst"):
        subprocess.run(["zstd", "-q", "-f", "--rm", plain, "-o", name], check=True)
