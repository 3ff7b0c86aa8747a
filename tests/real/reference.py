# SPDX-License-Identifier: MIT
"""A second, slow and simple implementation of tscope's definitions, to compare with. Everything is
worked out from the events again, by the shortest way that is plainly right. All times are ns.
"""
import bisect
import collections
import math
import re

import traces

CLASS_OF_CATEGORY = {
    "cpu_op": "cpu_op", "operator": "cpu_op",
    "user_annotation": "annotation",
    "kernel": "kernel", "mtia_ccp_events": "kernel",
    "gpu_memcpy": "memcpy", "memcpy": "memcpy",
    "gpu_memset": "memset", "memset": "memset",
    "runtime": "runtime", "cuda_runtime": "runtime", "cuda_driver": "runtime",
    "glow_runtime": "runtime", "mtia_runtime": "runtime", "xpu_runtime": "runtime",
    "xpu_driver": "runtime",
    "privateuse1_runtime": "runtime", "privateuse1_driver": "runtime",
}
DEVICE_CLASSES = ("kernel", "comm", "memcpy", "memset")
COMM_NAME = re.compile(
    r"(void )?([a-z_]\w*::)*(nccl(dev)?ker|rccl|msccl|oneccl|ccl_|hccl|hcom_|gloo"
    r"|cross_device_reduce|multimem_|nvshmem|one_shot_all_reduce|two_shot_all_reduce|symm_mem|allreduce_fusion"
    r"|quick_reduce|userbuffers)", re.IGNORECASE)
# Copies and fills that run as kernels (ROCm) or are filed among them (MTIA).
COPY_NAME = re.compile(r"__amd_rocclr_copyBuffer|dma_request")
FILL_NAME = re.compile(r"__amd_rocclr_fillBuffer")
# Not work, though it has the category of kernels (MTIA).
FLOWS = ("ac2g", "async", "async_npu", "async_cpu_to_gpu")
LAUNCH_CALL = re.compile(r"Launch|Mem(cpy|set)", re.IGNORECASE)
MARK_NAME = re.compile(r"event_(wait|record)$")
# Annotations that writers before 1.10 file as operators.
ANNOTATION_NAME = re.compile(r"(ProfilerStep|Optimizer\.step|Optimizer\.zero_grad"
                             r"|enumerate\(DataLoader\))#")
STEP_NAME = re.compile(r"ProfilerStep#(\d+)$")
DATA_WAIT = re.compile(r"enumerate\(Data(Loader|Pipe)\)#|event/dataloader|[dD]ata[lL]oader"
                       r"|.*dataloader_next$")

# What a host span tells, the first that matches; and what the main thread is in otherwise.
HOST_LABELS = (
    ("data", DATA_WAIT),
    ("comm", re.compile(r"record_param_comms|c10d::|(gloo|nccl|xccl|hccl|mpi|ucc):")),
    ("optimizer", re.compile(r"Optimizer\.(step|zero_grad)#|.*\.optimizer_step$")),
    ("backward", re.compile(r"(event/|## )?backward|(autograd::engine|torch::autograd::)"
                            r"|.+Backward\d*$|.*(\.backward|\([BW]\))$")),
    ("forward", re.compile(r"(event/)?forward|event/loss|.*(\.forward|\.training_step|\(F\))$")),
)


class Row:
    """One timed event that is work."""
    __slots__ = ("start", "end", "name", "kind", "track", "correlation", "external", "device",
                 "stream", "launch", "op", "parent", "order", "args")

    def __init__(self, event, kind, start, duration, order):
        args = event.get("args")
        self.args = args if isinstance(args, dict) else {}
        self.kind, self.start, self.end, self.order = kind, start, start + duration, order
        self.name = event.get("name", "")
        self.track = (str(event.get("pid", "")), str(event.get("tid", "")))
        self.correlation = traces.to_int(self.args.get("correlation"))
        self.external = traces.to_int(self.args.get("External id", self.args.get("external id")))
        self.device = self.stream = self.launch = self.op = self.parent = None

    @property
    def duration(self):
        return self.end - self.start


# ---- sets of time --------------------------------------------------------------------------


def union(spans):
    """Sorted disjoint [start, end) pairs."""
    merged = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def length(spans):
    return sum(end - start for start, end in spans)


def subtract(spans, others):
    """Of disjoint sorted spans what disjoint sorted others leave."""
    left, first = [], 0
    for start, end in spans:
        while first < len(others) and others[first][1] <= start:
            first += 1
        at, index = start, first
        while index < len(others) and others[index][0] < end:
            if others[index][0] > at:
                left.append((at, others[index][0]))
            at = max(at, others[index][1])
            index += 1
        if at < end:
            left.append((at, end))
    return left


def within(spans, start, end):
    """Length of the part of disjoint sorted spans inside [start, end)."""
    index = max(0, bisect.bisect_right(spans, start, key=lambda span: span[0]) - 1)
    total = 0
    while index < len(spans) and spans[index][0] < end:
        total += max(0, min(end, spans[index][1]) - max(start, spans[index][0]))
        index += 1
    return total


# ---- the rows ------------------------------------------------------------------------------


def device_of(row, event):
    device = traces.to_int(row.args.get("device"))
    return device if device is not None else traces.to_int(event.get("pid")) or 0


def stream_of(row, event):
    stream = traces.to_int(row.args.get("stream"))
    if stream is None:
        digits = re.search(r"-?\d+", str(event.get("tid", "")))
        stream = int(digits.group()) if digits else 0
    return stream


def kind_of(event):
    """tscope's class of a complete event, or None where it is none that is looked at here."""
    name = str(event.get("name", ""))
    kind = CLASS_OF_CATEGORY.get(str(event.get("cat", "")).lower())
    if kind == "cpu_op" and ANNOTATION_NAME.match(name):
        return "annotation"
    if kind != "kernel":
        # torch.autograd.profiler writes operators without a category.
        is_bare = "cat" not in event and event.get("pid") == "CPU functions"
        return "cpu_op" if is_bare or "cat" not in event and name.startswith("aten::") else kind
    if MARK_NAME.match(name):
        return None
    for pattern, better in ((COPY_NAME, "memcpy"), (FILL_NAME, "memset"), (COMM_NAME, "comm")):
        if pattern.match(name):
            return better
    return kind


def make_row(event, order):
    if not isinstance(event, dict) or event.get("ph") != "X":
        return None
    kind = kind_of(event)
    start, duration = traces.to_ns(event.get("ts")), traces.to_ns(event.get("dur"))
    if not kind or start is None or duration is None:
        return None
    row = Row(event, kind, start, max(0, duration), order)
    if row.kind in DEVICE_CLASSES:
        if start == 0 and duration == 0:
            return None  # not timed by the profiler
        row.device, row.stream = device_of(row, event), stream_of(row, event)
    return row


def nest(rows):
    """Sets parent of each op, and op of each call, to the innermost op around its start."""
    open_ops = []
    for row in sorted(rows, key=lambda r: (r.start, r.kind == "runtime", -r.end, r.order)):
        while open_ops and open_ops[-1].end <= row.start:
            open_ops.pop()
        around = open_ops[-1] if open_ops else None
        if row.kind == "runtime":
            row.op = around
        else:
            row.parent = around
            open_ops.append(row)


def outer_ops(op):
    """The operators around an operator, innermost first."""
    while op.parent:
        op = op.parent
        yield op


class Reference:
    """The figures of one trace."""

    def __init__(self, trace):
        made = (make_row(event, order) for order, event in enumerate(trace.events))
        self.rows = [row for row in made if row]
        self.by_kind = collections.defaultdict(list)
        for row in self.rows:
            self.by_kind[row.kind].append(row)
        self.device_rows = [row for row in self.rows if row.kind in DEVICE_CLASSES]
        self.by_device = collections.defaultdict(list)
        for row in self.device_rows:
            self.by_device[row.device].append(row)
        self._nest_threads()
        self._name_ops()
        self._link()
        self._link_otherwise(trace)

    def _nest_threads(self):
        threads = collections.defaultdict(list)
        for row in self.by_kind["cpu_op"] + self.by_kind["runtime"]:
            threads[row.track].append(row)
        for rows in threads.values():
            nest(rows)

    def _name_ops(self):
        """In files of whole µs an id that agrees with the times tells which operator it was."""
        if any(row.start % 1000 or row.end % 1000 for row in self.rows):
            return
        ops = {op.external: op for op in reversed(self.by_kind["cpu_op"]) if op.external}
        for call in self.by_kind["runtime"]:
            op = ops.get(call.external) if call.external != call.correlation else None
            if op and op.track == call.track and op.start <= call.start <= op.end:
                call.op = op

    def _link(self):
        """Device event → call by correlation: the latest that starts before it, else the first."""
        calls = collections.defaultdict(list)
        for call in sorted(self.by_kind["runtime"], key=lambda r: (r.start, r.order)):
            if call.correlation:
                calls[call.correlation].append(call)
        ops = {op.external: op for op in reversed(self.by_kind["cpu_op"]) if op.external}
        for row in self.device_rows:
            same = calls.get(row.correlation) if row.correlation else None
            if same:
                before = [call for call in same if call.start <= row.start]
                row.launch = before[-1] if before else same[0]
                row.op = row.launch.op
            if not row.op and row.external and row.external != row.correlation:
                row.op = ops.get(row.external)

    def _link_otherwise(self, trace):
        """Without a correlation: by the flow to where it starts, else by External id the first
        launch with it, else the first launch within the operator with it."""
        bare = [row for row in self.device_rows
                if not row.launch and not row.op and not row.correlation]
        if not bare:
            return
        launches = [call for call in self.by_kind["runtime"] if LAUNCH_CALL.search(call.name)]
        sources = {(call.track, call.start): call for call in self.by_kind["runtime"]}
        starts, ends = {}, {}
        for event in trace.events:
            if isinstance(event, dict) and str(event.get("cat")) in FLOWS:
                place = (str(event.get("pid")), str(event.get("tid"))), traces.to_ns(event["ts"])
                if event.get("ph") == "s":
                    starts[event.get("id")] = sources.get(place)
                elif event.get("ph") == "f":
                    ends[place] = event.get("id")
        by_id = {call.external: call for call in reversed(launches) if call.external}
        ops = {op.external: op for op in reversed(self.by_kind["cpu_op"]) if op.external}
        for row in bare:
            row.launch = starts.get(ends.get((row.track, row.start))) or by_id.get(row.external)
            row.op = row.launch.op if row.launch else ops.get(row.external)
            if row.op and not row.launch:
                row.launch = next((call for call in launches if call.track == row.op.track and
                                   row.op.start <= call.start and call.end <= row.op.end), None)

    # ---- figures over the whole trace ----

    def activity(self, rows):
        """Unions of one device's rows: compute, comm, copy, busy."""
        compute = union((r.start, r.end) for r in rows if r.kind == "kernel")
        comm = union((r.start, r.end) for r in rows if r.kind == "comm")
        copy = union((r.start, r.end) for r in rows if r.kind in ("memcpy", "memset"))
        busy = union((r.start, r.end) for r in rows)
        return compute, comm, copy, busy

    def device_facts(self):
        """device_busy and overlap: sums over the devices."""
        total = collections.Counter()
        for rows in self.by_device.values():
            compute, comm, copy, busy = self.activity(rows)
            span = max(r.end for r in rows) - min(r.start for r in rows)
            exposed = length(subtract(comm, compute))
            total.update(
                span_ns=span, busy_ns=length(busy), idle_ns=span - length(busy),
                compute_ns=length(compute), comm_ns=length(comm), copy_ns=length(copy),
                exposed_ns=exposed, overlapped_ns=length(comm) - exposed)
        return total

    def by_name(self, kinds):
        """name → (count, total)."""
        table = collections.defaultdict(lambda: [0, 0])
        for row in self.device_rows:
            if row.kind in kinds:
                table[row.name][0] += 1
                table[row.name][1] += row.duration
        return {name: tuple(figures) for name, figures in table.items()}

    def operators(self):
        """name → (count, total, self, device); within others of its name only self counts."""
        self_ns = {id(op): op.duration for op in self.by_kind["cpu_op"]}
        device_ns = collections.Counter()
        for op in self.by_kind["cpu_op"]:
            if op.parent:
                self_ns[id(op.parent)] -= min(op.end, op.parent.end) - op.start
        for row in self.device_rows:
            if row.op:
                for op in (row.op, *outer_ops(row.op)):
                    device_ns[id(op)] += row.duration
        table = collections.defaultdict(lambda: [0, 0, 0, 0])
        for op in self.by_kind["cpu_op"]:
            figures = table[op.name]
            figures[2] += self_ns[id(op)]
            if any(outer.name == op.name for outer in outer_ops(op)):
                continue
            figures[0] += 1
            figures[1] += op.duration
            figures[3] += device_ns[id(op)]
        return {name: tuple(figures) for name, figures in table.items()}

    # ---- steps ----

    def markers(self):
        """ProfilerStep#N rows of the thread that has most of them, by start."""
        threads = collections.defaultdict(list)
        for row in self.by_kind["annotation"] + self.by_kind["cpu_op"]:
            if STEP_NAME.match(row.name):
                threads[row.track].append(row)
        most = max(threads.values(), key=len, default=[])
        return sorted(most, key=lambda r: r.start)

    def steps(self):
        """(number, start, duration, wall) of each; empty where no ProfilerStep marks any."""
        markers = self.markers()
        listed = []
        for index, marker in enumerate(markers):
            if index + 1 < len(markers):
                end = markers[index + 1].start
            else:
                launched = [r.end for r in self.device_rows
                            if r.launch and marker.start <= r.launch.start < marker.end]
                end = max(launched + [marker.end])
            number = int(STEP_NAME.match(marker.name).group(1))
            listed.append((number, marker.start, marker.duration, end - marker.start))
        return listed

    def launched_counts(self):
        """Device events of each step: launched in its window, or started there if unlinked."""
        listed = self.steps()
        starts = [step[1] for step in listed]
        counts = [0] * len(listed)
        for row in self.device_rows:
            at = row.launch.start if row.launch else row.start
            index = bisect.bisect_right(starts, at) - 1
            if index >= 0 and at < starts[index] + listed[index][3]:
                counts[index] += 1
        return counts

    def budget(self, device):
        """For each step a Counter of the budget's lines on one device."""
        return Budget(self, device).by_step()

    def host_budget(self):
        """The same without devices."""
        pieces = host_pieces(self.by_kind["annotation"] + self.by_kind["cpu_op"],
                             self.markers()[0].track)
        return [collections.Counter({line: within(spans, start, start + wall)
                                     for line, spans in pieces.items()})
                for _, start, _, wall in self.steps()]


class Budget:
    """The budget of one device. Why it idles is a check of its own (check_idle_causes.py)."""

    def __init__(self, reference, device):
        self.reference = reference
        self.compute, self.comm, self.copy, self.busy = reference.activity(
            reference.by_device[device])

    def by_step(self):
        exposed_comm = subtract(self.comm, self.compute)
        kernels = union(self.compute + self.comm)
        exposed_copy = subtract(self.copy, kernels)
        return [collections.Counter(
            compute=within(self.compute, start, start + wall),
            exposed_comm=within(exposed_comm, start, start + wall),
            exposed_copy=within(exposed_copy, start, start + wall),
            idle=wall - within(self.busy, start, start + wall))
                for _, start, _, wall in self.reference.steps()]


def host_label(row):
    return next((label for label, pattern in HOST_LABELS if pattern.match(row.name)), None)


def host_labels(rows, main_track):
    """(row, label) by start; an operator that the main thread starts outside of all is forward."""
    named_until = -math.inf
    for row in sorted(rows, key=lambda r: (r.start, -r.end, r.order)):
        label = host_label(row)
        if row.track == main_track:
            if label:
                named_until = max(named_until, row.end)
            elif row.kind == "cpu_op" and row.start >= named_until:
                label = "forward"
        yield row, label


def host_line(open_rows, main_track):
    """The line of a moment, from the rows (with labels, by start) that are open in it."""
    main = [(row, label) for row, label in open_rows if row.track == main_track]
    elsewhere = {label for row, label in open_rows if row.track != main_track}
    innermost = next((label for _, label in reversed(main) if label), "other")
    computes = "backward" in elsewhere or any(row.kind == "cpu_op" for row, _ in main)
    if innermost == "data":
        return "data"
    if "comm" in elsewhere and not computes:
        return "comm"
    return "backward" if innermost == "other" and "backward" in elsewhere else innermost


def host_pieces(rows, main_track):
    """line → disjoint sorted spans, from looking anew after each start and end."""
    labelled = list(host_labels(rows, main_track))
    cuts = sorted({at for row in rows for at in (row.start, row.end)})
    pieces = collections.defaultdict(list)
    open_rows, index = [], 0
    for left, right in zip(cuts, cuts[1:]):
        while index < len(labelled) and labelled[index][0].start <= left:
            open_rows.append(labelled[index])
            index += 1
        open_rows = [pair for pair in open_rows if pair[0].end > left]
        pieces[host_line(open_rows, main_track)].append((left, right))
    return pieces
