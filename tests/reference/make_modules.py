#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of training with frames of modules and of the user's code, simulated, with whose time it
is beside: threads' time, device work, FLOPs and calls by path of modules and by function.

Modules are nested, repeated, shared, recursive, called twice, checkpointed in both of torch's ways
(forward code runs again in the backward pass) or compiled (one operator launches many kernels); they
launch graphs, copies and collectives. Backward runs on a thread of its own or on the main thread.
Where modules are is said by frames, by operators of TorchScript, by hooks of FSDP in both of its
versions, by the user's annotations, or by those of graphs' kernels. Paths are tuples of what the
trace calls the modules: "Linear_3" in frames, ".wq" where modules have names. The truth is written down while the program runs, not read from the trace.

usage: make_modules.py FOLDER SEED     writes trace.json and truth.json
"""
import collections
import json
import pathlib
import pickle
import random
import sys

BASE_NS = 1_700_000_000_000_000_000 // 7_889_238_000_000_000 * 7_889_238_000_000_000
MAIN, AUTOGRAD, PID = 100, 101, 100
ADDRESS = 139_926_520_725_504  # of the device's blocks
OUTSIDE = "(outside modules)"
NOBODY = "(outside the user's code)"


class Module:
    def __init__(self, cls, number):
        self.cls, self.name, self.children, self.works = cls, f"{cls}_{number}", [], 1
        self.source, self.way, self.again = None, "plain", 0
        self.attr, self.fqn, self.is_marked = (), (), False


class Model:
    """A random tree of modules; numbers count up by class, as torch's do."""

    def __init__(self, rng):
        self.rng, self.numbers, self.made = rng, collections.Counter(), []
        self.root = self.container("Net", 0)
        self.name_modules(self.root)
        if self.is_recursive():  # which of its calls runs again is written nowhere
            for module in self.made:
                module.way = module.way.replace("rerun", "plain")

    def name_modules(self, module):
        """As their parents have them: in lists, which number them, or as attributes."""
        rng = self.rng
        for number, child in enumerate(module.children):
            if child.attr or child is self.root:
                continue  # shared: the first name is that of all
            in_list = child.children and rng.random() < 0.8 or rng.random() < 0.2
            child.attr = (f".{child.cls.lower()}s", f".{number}") if in_list else (
                f".{child.cls.lower()}{number}",)
            child.fqn = module.fqn + child.attr
            child.is_marked = rng.random() < 0.6
            self.name_modules(child)

    def new(self, cls):
        module = Module(cls, self.numbers[cls])
        self.numbers[cls] += 1
        module.works = self.rng.randint(0, 2)
        if self.rng.random() < 0.3:
            module.source = f"net_{cls.lower()}.py({len(cls)}): forward"
        self.made.append(module)
        return module

    def leaf(self, cls=None):
        return self.new(cls or self.rng.choice(["Linear", "Norm", "Act"]))

    def block(self, cls, shape):
        module = self.new(cls)
        module.children = [self.leaf(name) for name in shape]
        return module

    def container(self, cls, depth):
        rng, module = self.rng, self.new(cls)
        for _ in range(rng.randint(1, 3)):
            kind = rng.random()
            if kind < 0.35 and depth < 3:
                module.children.append(self.container(rng.choice(["Seq", "Part"]), depth + 1))
            elif kind < 0.75:
                name = rng.choice(["Block", "Layer"])
                shape = [rng.choice(["Linear", "Norm"]) for _ in range(rng.randint(1, 3))]
                for _ in range(rng.randint(1, 6)):
                    module.children.append(self.block(name, shape))
            else:
                module.children.append(self.leaf())
        if rng.random() < 0.15:
            module.children.append(rng.choice(self.made[1:] or [module]))  # shared, or itself
        for child in module.children:
            child.way = rng.choice(["plain"] * 6 + ["checkpoint", "rerun"])
            child.again = rng.random() < 0.1
        return module

    def is_recursive(self, module=None, around=()):
        module = module or self.root
        return module in around or any(self.is_recursive(child, (*around, module))
                                       for child in module.children)


class Thread:
    def __init__(self, tid, first_sequence, number):
        self.tid, self.sequence, self.number = tid, first_sequence, number
        self.places, self.log = [((), None, False)], [(0, (), None, False)]
        self.calls = []       # modules
        self.unit_counts = [0]  # of FSDP's first version, by the one around


class Writer:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.events, self.now, self.device_free = [], 1000, 1000
        self.correlation = 0
        self.sums = collections.defaultdict(collections.Counter)     # by path
        self.sources = collections.defaultdict(collections.Counter)  # by function
        self.order = []                                              # paths as they first come
        self.mode = self.rng.choice(["frames"] * 5 + ["hierarchy", "fsdp2", "fsdp1", "annotations"])
        self.has_kernel_paths = self.rng.random() < 0.2
        self.has_stacks = self.rng.random() < 0.3
        self.has_memory, self.allocated = self.rng.random() < 0.3, 1 << 20
        self.live, self.old_address = {}, 1 << 40  # bytes by address; the next from before
        self.memory_log = []  # (time, total, path, source, address, bytes): what came or went
        self.has_annotations = self.rng.random() < 0.5  # in a file beside the trace
        self.annotations = {}  # by node
        self.kernel_order, self.units, self.seen_sources = [], set(), set()
        self.facts = []  # (launch time, path, source, what): added where the step counts
        self.launched = []  # (launch, start, duration, name, thread or None: graph, path, source)
        self.on_main = self.rng.random() < 0.3
        first = self.rng.randrange(0, 50)
        self.main = Thread(MAIN, first, 1)
        self.autograd = self.main if self.on_main else Thread(
            AUTOGRAD, first + self.rng.randrange(5000, 9000), 2)
        self.tape = []

    def tick(self, low=1, high=40):
        self.now += self.rng.randint(low, high)
        return self.now

    def emit(self, cat, name, thread, start, end, args=None):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": PID, "tid": thread,
                            "ts": start, "dur": end - start, "args": args or {}})

    # ---- places

    def enter(self, thread, path=None, source=None, backward=None):
        old = thread.places[-1]
        place = (old[0] if path is None else path, old[1] if source is None else source,
                 old[2] if backward is None else backward)
        if place[0] and place[0] not in self.order:
            self.order.append(place[0])
        thread.places.append(place)
        thread.log.append((self.now, *place))

    def leave(self, thread):
        thread.places.pop()
        thread.log.append((self.now, *thread.places[-1]))

    def note(self, thread, what, backward=None):
        path, source, is_backward = thread.places[-1]
        self.facts.append((self.now, path, source, is_backward if backward is None else backward,
                           what))

    # ---- work

    def device(self, thread, call, count=1, kind="kernel", linked=True, backward=None):
        self.tick()
        self.correlation += 1
        start = self.now
        self.note(thread, {"launch_count": 1})
        called = set()
        self.tick(2, 9)
        self.emit("cuda_runtime", call, thread.tid, start, self.now,
                  {"correlation": self.correlation} if linked else {})
        for _ in range(count):
            begin = max(self.device_free + self.rng.randint(0, 5), self.now)
            dur = self.rng.randint(5, 400)
            self.device_free = begin + dur
            name = {"kernel": "some_kernel", "copy": "Memcpy DtoD (Device -> Device)",
                    "comm": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"}[kind]
            cat = "gpu_memcpy" if kind == "copy" else "kernel"
            args = {"device": 0, "stream": 7, "correlation": self.correlation}
            path, source, is_backward = thread.places[-1]
            if call == "cudaGraphLaunch":
                path = self.annotate(start, args, path, called)
            elif call == "cuLaunchKernel" and self.has_stacks:
                source = self.put_stacks(args) or source
            self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7,
                                "ts": begin, "dur": dur, "args": args})
            is_backward = is_backward if backward is None else backward
            what = {"backward_ns" if is_backward else "forward_ns": dur}
            if kind == "copy":
                what["copy_ns"] = dur
            else:
                what["kernel_count"] = 1
            if kind == "comm":
                what["comm_ns"] = dur
            self.facts.append((start, path, source, is_backward, what))
            self.launched.append((start, begin, dur, name,
                                  None if call == "cudaGraphLaunch" else thread.tid, path, source))

    def put_stacks(self, args):
        """The code that a compiled kernel is made of, of one function or more; libraries within."""
        rng, stacks = self.rng, []
        names = rng.choices(["net.py", "head.py", "loss.py"], k=rng.choice([1, 1, 2]))
        for name in names:
            text = '  File "/job/train.py", line 3, in step\n    loss = net(x)\n' * rng.randint(0, 1)
            text += f'  File "/job/{name}", line {5 + len(stacks)}, in forward\n    return "\u00e9"\n'
            text += '  File "/x/site-packages/a/b.py", line 9, in f\n    x' * rng.randint(0, 1)
            stacks.append(text)
        args["stack"] = stacks
        return f"/job/{names[0]}(5): forward" if len(set(names)) == 1 else None

    def annotate(self, start, args, path, called):
        """A kernel of a graph with the module that it was captured in. A replay calls each once."""
        args.update({"graph id": 5, "graph node id": 5 << 32 | len(self.events)})
        fqn = self.rng.choice(self.model.made).fqn
        if not self.has_kernel_paths or not fqn or self.rng.random() < 0.2:
            return path
        key = self.rng.choice(["module_fqn", "component"])
        if self.has_annotations:
            outer = [{"name": "forward"}, {key: dotted(fqn[:-1])}][:self.rng.randrange(3)]
            self.annotations[args["graph node id"]] = [*outer, {key: dotted(fqn), "stream": 7}]
        else:
            args[key] = dotted(fqn)
        self.seen_sources.add("kernel annotations")
        self.kernel_order.append(fqn)
        for end in range(1, len(fqn) + 1):
            if fqn[:end] not in called:
                called.add(fqn[:end])
                self.facts.append((start, fqn[:end], None, False,
                                   {"call_count": 1, "repeated_count": 0}))
        return fqn

    def begin_op(self, thread, args):
        """Operators of TorchScript say the modules around them."""
        if self.mode != "hierarchy" or not thread.calls:
            return
        path, text = (f".{thread.calls[0].cls}",), f"TOP({thread.calls[0].cls})::forward"
        for module in thread.calls[1:]:
            path += (module.attr[-1],)
            text += f".{module.attr[-1][1:]}({module.cls})::forward"
            if self.rng.random() < 0.2:
                text += f".SELF({module.cls})::_forward"
        if self.rng.random() < 0.2:
            text += ".::helper"
        args["Module Hierarchy"] = text
        self.seen_sources.add("TorchScript")
        self.enter(thread, path=path)

    def end_op(self, thread, args):
        """The place of what it made, and back to that around it."""
        place = thread.places[-1]
        if "Module Hierarchy" in args:
            self.leave(thread)
        return place

    def product(self, thread, args, backward=None, start=None):
        """aten::linear around aten::mm, which launches kernels."""
        outer, inner = start or self.tick(), self.tick()
        m, k, n = (8 * self.rng.randint(1, 16) for _ in range(3))
        self.note(thread, {"flops": 2 * m * k * n})
        self.device(thread, "cudaLaunchKernel", self.rng.randint(1, 2), backward=backward)
        inner_end = self.tick()
        self.emit("cpu_op", "aten::mm", thread.tid, inner, inner_end,
                  {**args, "Input Dims": [[m, k], [k, n]], "Input type": ["float", "float"]})
        self.emit("cpu_op", "aten::linear", thread.tid, outer, self.tick(), args)

    def memory(self, thread):
        """The allocator of the device gives a block, or takes one back."""
        self.tick()
        kind, address = self.rng.random(), None
        if kind < 0.04:
            self.instant(thread, "[OutOfMemory]", {"Bytes": 1 << 40})
            return
        if kind < 0.35 and self.live:
            address = self.rng.choice(list(self.live))
            grown = -self.live.pop(address)
        elif kind < 0.45:  # from before the recording
            address, grown = self.old_address, -512
            self.old_address += 512
        else:  # where nothing lies, perhaps something did
            grown = self.rng.choice([512, 4096, 1536])
            while address is None or address in self.live:
                address = ADDRESS + 4096 * self.rng.randrange(200)
            self.live[address] = grown
            self.note(thread, {"allocated_bytes": grown, "allocation_count": 1})
        self.allocated += grown
        self.memory_log.append((self.now, self.allocated, *thread.places[-1][:2], address, grown))
        self.instant(thread, "[memory]", {"Bytes": grown, "Addr": address})

    def instant(self, thread, name, args):
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "name": name, "pid": PID,
                            "tid": thread.tid, "ts": self.now,
                            "args": {"Total Reserved": 1 << 30, "Total Allocated": self.allocated,
                                     **args, "Device Id": 0, "Device Type": 1}})

    def op(self, thread, records):
        """Some forward operator, which makes a node of the backward pass if autograd records."""
        args = {"Sequence number": thread.sequence, "Fwd thread id": 0} if records else {}
        kind = self.rng.random()
        if 0.45 <= kind < 0.55:
            self.device(thread, "cudaGraphLaunch", self.rng.randint(1, 4))
            return
        self.tick()
        self.begin_op(thread, args)
        first = self.now
        self.run_op(thread, args, kind, first)
        place = self.end_op(thread, args)
        if records:
            self.tape.append(("node", thread.number, thread.sequence, place))
            thread.sequence += 1

    def run_op(self, thread, args, kind, start):
        if self.has_memory and self.rng.random() < 0.5:
            self.memory(thread)
        if kind < 0.35:
            self.product(thread, args, start=start)
        elif kind < 0.45:  # compiled: one operator, many kernels
            for _ in range(self.rng.randint(1, 3)):
                self.device(thread, "cuLaunchKernel")
            self.emit("cpu_op", "CompiledFunction", thread.tid, start, self.tick(), args)
        elif kind < 0.65:
            self.device(thread, "cudaLaunchKernel", kind="comm")
            self.emit("cpu_op", "c10d::allreduce_", thread.tid, start, self.tick(), args)
        elif kind < 0.75:
            self.device(thread, "cudaMemcpyAsync", kind="copy")
            self.emit("cpu_op", "aten::copy_", thread.tid, start, self.tick(), args)
        elif kind < 0.8:
            before = self.tick()
            self.tick(5, 60)
            self.emit("cuda_runtime", "cudaStreamSynchronize", thread.tid, before, self.now)
            end = self.now
            self.now = before
            self.note(thread, {"sync_count": 1, "sync_ns": end - before})
            self.now = end
            self.emit("cpu_op", "aten::item", thread.tid, start, self.tick(), args)
        else:
            if self.rng.random() < 0.7:
                self.device(thread, "cudaLaunchKernel")
            self.emit("cpu_op", "aten::add", thread.tid, start, self.tick(), args)

    # ---- forward

    def hook(self, thread, name, module):
        """FSDP gathers or scatters, wherever it is called from."""
        start = self.now
        self.enter(thread, path=module.fqn)
        if self.rng.random() < 0.5:
            self.device(thread, "cudaLaunchKernel", kind="comm")
        self.emit("user_annotation", f"FSDP::{name} ({dotted(module.fqn)})", thread.tid, start,
                  self.tick())
        self.leave(thread)

    def begin_module(self, thread, module, parent):
        """Whether the module is one for the trace, and when it began."""
        around = thread.places[-1]
        start, path = self.tick(), None
        if self.mode == "frames":
            path = (around[0] if parent is None else parent) + (module.name,)
            self.seen_sources.add("frames")
        elif self.mode == "fsdp2" and module.is_marked:
            path = module.fqn
            self.seen_sources.add("FSDP")
        elif self.mode == "fsdp1" and not around[2] and (
                module.is_marked or module is self.model.root):
            number = thread.unit_counts[-1]
            thread.unit_counts[-1] += 1
            thread.unit_counts.append(0)
            path = around[0] + ("FullyShardedDataParallel" + (
                f"_{number}" if len(thread.unit_counts) > 2 else ""),)
            self.seen_sources.add("FSDP")
        elif self.mode == "annotations" and module.is_marked and any(
                part[1:].isdigit() for part in module.fqn):
            path = module.fqn
            self.seen_sources.add("annotations")
        if path is None:
            return None
        self.enter(thread, path=path)
        self.note(thread, {"call_count": 1, "repeated_count": int(around[2])})
        if self.mode != "frames":
            self.units.add(path)
        if self.mode == "fsdp2":
            self.hook(thread, "pre_forward", module)
        return start

    def end_module(self, thread, module, start):
        self.tick()
        if self.mode == "annotations" and start is None:  # a word is no path
            self.emit("user_annotation", module.cls.lower(), thread.tid, self.now, self.tick())
        if start is None:
            return
        if self.mode == "frames":
            self.emit("python_function", f"nn.Module: {module.name}", thread.tid, start, self.now,
                      {"Python id": len(self.events), "Python module id": 0})
        elif self.mode == "fsdp2":
            self.hook(thread, "post_forward", module)
        elif self.mode == "fsdp1":
            thread.unit_counts.pop()
            self.emit("user_annotation", "FullyShardedDataParallel.forward", thread.tid, start,
                      self.now)
        else:
            self.emit("user_annotation", dotted(module.fqn), thread.tid, start, self.now)
        self.leave(thread)

    def call(self, thread, module, records, parent=None):
        start = self.begin_module(thread, module, parent)
        thread.calls.append(module)
        self.tick()
        if module.source:
            source_start = self.tick()
            self.enter(thread, source=module.source)
        for _ in range(module.works):
            self.op(thread, records)
        for child in module.children:
            if len(thread.calls) < 8:  # a module that calls itself ends
                self.run(thread, child, records)
                if child.again:
                    self.run(thread, child, records)
        if module.source:
            self.emit("python_function", module.source, thread.tid, source_start, self.tick())
            self.leave(thread)
        thread.calls.pop()
        self.end_module(thread, module, start)
        self.tick()

    def run(self, thread, module, records):
        if module.way == "plain" or not records or thread is not self.main or self.on_main:
            self.call(thread, module, records)
        elif module.way == "checkpoint":
            sequence, place = thread.sequence, thread.places[-1]
            thread.sequence += 1
            start = self.tick()
            self.call(thread, module, False)
            self.emit("cpu_op", "CheckpointFunction", thread.tid, start, self.tick(),
                      {"Sequence number": sequence, "Fwd thread id": 0})
            self.tape.append(("checkpoint", thread.number, sequence, place, module,
                              list(thread.calls)))
        else:  # the first node within that needs what was not kept runs it again
            place, first = thread.places[-1], len(self.tape)
            self.call(thread, module, True)
            if len(self.tape) > first and self.tape[-1][0] == "node":
                self.tape[-1] = ("rerun", *self.tape[-1][1:], module, list(thread.calls), place)

    # ---- backward

    def node(self, entry):
        thread, name = self.autograd, "MmBackward0"
        args = {"Sequence number": entry[2], "Fwd thread id": entry[1]}
        start = self.tick()
        self.enter(thread, path=entry[3][0], source=entry[3][1] or "", backward=True)
        inner = self.tick()
        if entry[0] == "checkpoint":
            name = "CheckpointFunctionBackward"
            outer_tape, self.tape = self.tape, []
            thread.calls, outer_calls = entry[5], thread.calls
            self.call(thread, entry[4], True)
            thread.calls = outer_calls
            inner_tape, self.tape = self.tape, outer_tape
            for recorded in reversed(inner_tape):
                self.node(recorded)
        elif entry[0] == "rerun":
            thread.calls, outer_calls = entry[5], thread.calls
            self.call(thread, entry[4], False, entry[6][0])
            thread.calls = outer_calls
        if self.mode == "fsdp2" and self.rng.random() < 0.3:
            marked = [m for m in self.model.made if m.is_marked and m.fqn in self.units]
            for module in marked[:1]:
                self.tick()
                self.hook(thread, self.rng.choice(["pre_backward", "post_backward_reduce"]), module)
        if self.rng.random() < 0.5:
            self.product(thread, {})
        elif self.rng.random() < 0.7:
            self.device(thread, "cudaLaunchKernel")
        self.emit("cpu_op", name, thread.tid, inner, self.tick(), args)
        self.emit("cpu_op", f"autograd::engine::evaluate_function: {name}", thread.tid, start,
                  self.tick(), args)
        self.leave(thread)
        self.tick()

    def unknown_node(self):
        """Of an operator before the capture, or of none: it adds up gradients."""
        thread, start = self.autograd, self.tick()
        sequence = self.rng.choice([2 ** 23 + 5, -1])
        self.device(thread, "cudaLaunchKernel", backward=True)
        self.emit("cpu_op", "autograd::engine::evaluate_function: AccumulateGrad", thread.tid,
                  start, self.tick(), {"Sequence number": sequence, "Fwd thread id": 1})

    # ---- the program

    def loss_and_backward(self):
        self.op(self.main, True)
        tape, self.tape = self.tape, []
        for entry in reversed(tape):
            self.node(entry)
            if self.rng.random() < 0.1:
                self.unknown_node()
        self.op(self.main, False)  # the optimizer

    def program(self, model, steps):
        self.steps, self.model = [], model
        if self.has_memory:
            self.memory(self.main)
            self.facts.clear()  # how much there was before is not known
        for number in range(steps):
            start = self.tick()
            self.enter(self.main, source="train.py(3): step")
            for _ in range(2):
                self.tick()
            self.main.unit_counts = [0]
            self.run(self.main, model.root, True)
            self.loss_and_backward()
            self.emit("python_function", "train.py(3): step", MAIN, start, self.tick())
            self.leave(self.main)
            self.tick()
            self.emit("user_annotation", f"ProfilerStep#{number + 1}", MAIN, start - 1, self.now)
            self.steps.append(start - 1)
            if self.rng.random() < 0.5:
                self.now = max(self.now, self.device_free + 1)
            self.tick()
        self.end = max(self.now, self.device_free)


def dumps(writer):
    def us(ns):
        return f"{ns // 1000}.{ns % 1000:03d}"
    lines = []
    for event in writer.events:
        rest = {key: event[key] for key in ("ph", "cat", "name", "pid", "tid")}
        text = json.dumps(rest)[:-1]
        args = json.dumps(event["args"])
        dur = f'"dur": {us(event["dur"])}' if "dur" in event else '"s": "t"'
        lines.append(f'{text}, "ts": {us(event["ts"])}, {dur}, "args": {args}}}')
    return ('{"schemaVersion": 1, "with_stack": 1, "baseTimeNanoseconds": '
            f'{BASE_NS}, "traceEvents": [\n' + ",\n".join(lines) + "\n]}\n")


def dotted(path):
    return ".".join(name[1:] for name in path)


def write_annotations(writer, folder):
    """As torch.cuda._graph_annotations keeps them, where its own tools look for them, or beside."""
    folder = folder if writer.rng.random() < 0.5 else folder.parent
    if writer.rng.random() < 0.5:
        text = json.dumps(writer.annotations).encode()
        (folder / "kernel_annotations_rank0_fwd.json").write_bytes(text)
    else:
        (folder / "kernel_annotations_rank0_fwd.pkl").write_bytes(pickle.dumps(writer.annotations))


def random_trace(seed):
    """The text of a trace, and the writer that knows all of it."""
    writer = Writer(seed)
    writer.program(Model(writer.rng), writer.rng.randint(1, 4))
    if writer.rng.random() < 0.5:
        writer.rng.shuffle(writer.events)
    return dumps(writer), writer


def main():
    folder = pathlib.Path(sys.argv[1])
    text, writer = random_trace(int(sys.argv[2]))
    folder.mkdir(exist_ok=True)
    if writer.annotations:
        write_annotations(writer, folder)
    (folder / "trace.json").write_text(text)
    (folder / "truth.json").write_text(json.dumps([list(fact) for fact in writer.facts]))


if __name__ == "__main__":
    main()
