# SPDX-License-Identifier: MIT
"""FLOPs, rates and bytes of TraceLens: its sheets of single operators.

Where its definition is another one, tscope's figure is turned into theirs by that definition (the
function beside the reason), and what follows must be the published figure to the last digit. So
no difference is excused without having been reproduced.
"""
import ast
import collections
import csv
import json
import math
import pathlib
import tempfile

import published_tracelens
import reference
import reference_flops
import traces

# The first four tell FLOPs as we mean them; of other operators it counts elements.
WITH_FLOPS = ("GEMM", "CONV_fwd", "CONV_bwd", "SDPA_fwd")
SHEETS = (*WITH_FLOPS, "unified_perf_summary")
MEGABYTE = 1 << 20
CLOSE = 0.01
EXACT = 1e-9
# These leave memsets out, which the others count.
WITHOUT_MEMSET = (published_tracelens.WITHOUT_MEMSET, published_tracelens.SPLIT)
# What we call that which they call so. Of others tscope counts another operator, within.
KINDS = {"GEMM": ("gemm",), "CONV_fwd": ("conv",), "CONV_bwd": ("conv",),
         "SDPA_fwd": ("attention",), "NORM_fwd": ("norm",), "NORM_bwd": ("norm",),
         "RMSNorm": ("norm",), "reduce": ("reduction",), "elementwise": ("elementwise", "copy")}
TIME_CLOSE = 1e-4
TIME_STEP_US = 2 ** -10  # between neighbouring times of these traces, held as doubles of µs
# Operators of the replayed graph are in no trace of a replay, but in that of its capture.
CAPTURES = {
    "inference/sglang_decode/perf_csvs":
        "inference/sglang_decode/capture_traces/bs_32_rank0.json.gz",
    "inference/vllm_decode_full/perf_csvs":
        "inference/vllm_decode_full/capture_traces/"
        "graph_capture_rank_0.1773709742341309550.pt.trace.json.gz",
}
WEIGHT_ONLY = "[False, True, False]"  # of the gradients of input, weight and bias
ELEMENT_BYTES = {"float": 4, "double": 8, "c10::BFloat16": 2, "c10::Half": 2, "long int": 8,
                 "int": 4, "bool": 1}


class Line:
    """A row of a sheet, or several of operators that differ only in strides or values."""

    def __init__(self, name, dims, types):
        self.name, self.dims, self.types = name, dims, types
        self.values, self.rates = [], []
        self.category = ""
        self.count = self.repeated_count = 0
        self.flops = self.bytes = self.kernel_us = 0.0

    def key(self):
        return self.name, f"{self.dims} {', '.join(self.types)}"

    def add(self, row):
        def cell(*names):
            return next((row[name] for name in names if row.get(name)), "0")

        self.category = row.get("op category", self.category)
        count = int(cell("name_count", "operation_count"))
        self.count += count
        self.repeated_count += count * (row.get("is_recompute") == "True")
        self.flops += count * float(cell("GFLOPS_first", "GFLOPS")) * 1e9
        self.bytes += count * float(cell("Data Moved (MB)_first", "Data Moved (MB)")) * MEGABYTE
        self.kernel_us += float(cell("Kernel Time (µs)_sum"))
        self.rates.append((count, float(cell("TFLOPS/s_mean"))))
        self.values = list(ast.literal_eval(cell("Concrete Inputs_first", "Concrete Inputs")))

    def rate(self):
        """Their mean of the rates of single calls, FLOP/s."""
        return sum(count * rate for count, rate in self.rates) / self.count * 1e12

    def size(self, index):
        return math.prod(self.dims[index]) * ELEMENT_BYTES.get(self.types[index], 0)


def as_lists(value):
    return [as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def read_lines(folder, sheet):
    path = folder / (sheet + ".csv")
    lines = {}
    if not path.exists():
        return lines
    csv.field_size_limit(1 << 24)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            dims = row.get("Input Dims_first") or row.get("Input Dims")
            types = row.get("Input type_first") or row.get("Input type")
            if not dims or row.get("has_perf_model") == "False":
                continue
            line = Line(row["name"], as_lists(ast.literal_eval(dims)),
                        as_lists(ast.literal_eval(types)))
            lines.setdefault(line.key(), line).add(row)
    return lines


# ---- tscope's figures for the same calls ---------------------------------------------------


class Own:
    """What tscope's table says of a call of theirs, which may hold the call that we count."""

    def __init__(self, tscope, path, with_memset=True):
        self.with_memset = with_memset
        self.report = tscope.report(path)
        self.rows, self.kinds = {}, {}
        for row in self.report["facts"].get("flops", {}).get("by_operator", ()):
            merged = self.rows.setdefault((row["name"], row["inputs"]), collections.Counter())
            self.kinds[row["name"], row["inputs"]] = row["kind"]
            merged.update({column: row[column] or 0 for column in
                           ("count", "repeated_count", "flops", "bytes", "device_ns")})
        ours = reference.Reference(traces.read(path))
        self.calls = collections.defaultdict(list)
        self.owned = collections.defaultdict(dict)  # op → counted ops in it
        self.linked_ns = collections.Counter()      # op → device time, as TraceLens links it
        self.linked_count = collections.Counter()
        self.own_ns = collections.Counter()         # key → device time, as tscope links it
        for op in ours.by_kind["cpu_op"]:
            if "Input Dims" in op.args:
                self.calls[reference_flops.Call(op).key()].append(op)
        for event in ours.device_rows:
            self._give(event)
        if not ours.device_rows:
            self._give_innermost(ours)

    def _give(self, event):
        around = [event.op, *reference.outer_ops(event.op)] if event.op else []
        keys = {id(op): reference_flops.Call(op).key() for op in around}
        owner = None
        for op in around:
            if event.launch and (self.with_memset or event.kind != "memset"):
                self.linked_ns[id(op)] += event.duration
                self.linked_count[id(op)] += 1
            if not owner and keys[id(op)] in self.rows:
                owner = op
            if owner:
                self.owned[id(op)][id(owner)] = keys[id(owner)]
        if owner:
            self.own_ns[keys[id(owner)]] += event.duration

    def _give_innermost(self, ours):
        """Without devices: what has a row is counted, unless something in it has one."""
        with_row = [op for op in ours.by_kind["cpu_op"]
                    if reference_flops.Call(op).key() in self.rows]
        around = {id(outer) for op in with_row for outer in reference.outer_ops(op)}
        for op in with_row:
            for outer in (op, *reference.outer_ops(op)) if id(op) not in around else ():
                self.owned[id(outer)][id(op)] = reference_flops.Call(op).key()

    def instances(self, key, outermost):
        """Their calls of this name and inputs that launched something; in none of outermost."""
        return [op for op in self.calls.get(key, ()) if self.linked_ns[id(op)]
                and not any(reference_flops.Call(around).key() in outermost
                            for around in reference.outer_ops(op))]

    def per_call(self, key, column):
        return self.rows[key][column] / self.rows[key]["count"]

    def owners(self, ops, kinds):
        """What we count in these calls, of these kinds: a key for each time."""
        return [key for op in ops for key in self.owned[id(op)].values()
                if self.kinds[key] in kinds]

    def sum_of(self, keys, column):
        return sum(self.per_call(key, column) for key in keys)


# ---- their definitions ---------------------------------------------------------------------


def adds_bias(line, flops):
    if line.name == "aten::addmm":
        return flops + line.count * line.dims[1][0] * line.dims[2][1]
    if line.name == "vllm::rocm_unquantized_gemm" and line.dims[2]:
        return flops + line.count * line.dims[0][0] * line.dims[1][0]
    return None


def halves_causal(line, flops):
    return flops / 2 if "attention" in line.name and line.values[4] == "True" else None


def takes_both_gradients(line, flops):
    is_one = line.name == "aten::convolution_backward" and line.values[-1] == WEIGHT_ONLY
    return 2 * flops if is_one else None


FLOPS_DEFINITIONS = (
    ("adds MN for the bias", adds_bias),
    ("counts half of the square under a causal mask", halves_causal),
    ("counts both gradients, though output_mask asks for one", takes_both_gradients),
)


# (whole tensors, vectors as long as there are channels or weights) that TraceLens counts.
NORMS = {
    "batch_norm": (2, 6), "layer_norm": (2, 6), "group_norm": (2, 6), "instance_norm": (2, 6),
    "_fused_rms_norm": (2, 1), "native_batch_norm_backward": (3, 4),
    "miopen_batch_norm_backward": (2, 1), "native_group_norm_backward": (3, 1),
    "native_layer_norm_backward": (3, 4), "_fused_rms_norm_backward": (3, 2),
}


def counts_vectors(line, moved):
    """Ours has the whole tensors, too, beside them the vectors and statistics that there are."""
    name = line.name.removeprefix("aten::")
    if name not in NORMS:
        return None
    is_backward = "backward" in name
    channels = line.dims[0][1]
    if "layer_norm" in name or "rms_norm" in name:
        channels = math.prod(ast.literal_eval(line.values[2 if is_backward else 1]))
    rows = math.prod(line.dims[0]) / channels
    ours_beside = moved / line.count - (3 if is_backward else 2) * line.size(0)
    if not 0 <= ours_beside <= 8 * max(channels, rows) * 4:
        return None
    tensors, vectors = NORMS[name]
    if name == "native_layer_norm_backward" and line.values[-1] != "[True, True, True]":
        vectors = 1
    element = ELEMENT_BYTES[line.types[0]]
    return line.count * (tensors * line.size(0) + vectors * channels * element)


def reduces_to_one(line, moved):
    """Ours has all elements that are left."""
    if line.name not in ("aten::sum", "aten::mean"):
        return None
    gone = ast.literal_eval(line.values[1])
    left = math.prod(size for i, size in enumerate(line.dims[0])
                     if i not in gone and i - len(line.dims[0]) not in gone)
    element = ELEMENT_BYTES[line.types[0]]
    if not close(moved, line.count * (line.size(0) + left * element), EXACT):
        return None
    return line.count * (line.size(0) + element)


def reads_gradient_twice(line, moved):
    if line.name != "aten::convolution_backward":
        return None
    if line.values[-1] == WEIGHT_ONLY:
        return 2 * moved
    return moved + line.count * line.size(0)


def leaves_out_bias(line, moved):
    if line.name != "aten::convolution" or not line.dims[2]:
        return None
    return moved - line.count * line.size(2)


def number_takes_four(line, moved):
    """What is a number to them comes as a tensor of 8 bytes to the operator within."""
    return moved - 4 * line.count if line.types[1:2] == ["Scalar"] else None


BYTES_DEFINITIONS = (
    ("gives a number 4 bytes", number_takes_four),
    ("leaves out the bias", leaves_out_bias),
    ("counts weights and statistics as a fixed number of vectors", counts_vectors),
    ("takes one element for what is left of a reduction", reduces_to_one),
    ("reads all tensors for each of the two gradients", reads_gradient_twice),
)


def compare(results, label, line, figures, definitions, inner=""):
    """figures: theirs, ours. Within 1 %, and the same or by one of their definitions the same."""
    theirs, ours = figures
    reasons = [text for text, turn in definitions
               if (turned := turn(line, ours)) is not None and close(turned, theirs, EXACT)]
    if inner and not reasons:
        reasons = [inner]
    if close(ours, theirs, CLOSE):
        # A difference of less has its reason, too.
        agrees = close(ours, theirs, EXACT) or reasons
        results.check(label, theirs, theirs if agrees else ours)
    else:
        results.check(label, theirs, ours, "; ".join(reasons[:1]))


def close(one, other, tolerance):
    return abs(one - other) <= tolerance * max(abs(one), abs(other))


# ---- comparisons ---------------------------------------------------------------------------


def check_rate(results, label, line, own, ops, keys):
    """Their rate is the mean over calls, each by all that was launched in it."""
    linked_ns = [own.linked_ns[id(op)] for op in ops]
    theirs = line.flops / line.count * sum(1e9 / ns for ns in linked_ns) / len(ops)
    results.check(label + " rate from the trace", line.rate(),
                  line.rate() if close(theirs, line.rate(), TIME_CLOSE) else theirs)
    rows = [own.rows[key] for key in set(keys)]
    spent = sum(row["device_ns"] for row in rows)
    results.check(label + " device ns", sum(own.own_ns[key] for key in set(keys)), spent)
    ours = sum(row["flops"] for row in rows) / spent * 1e9
    reasons = []
    if not close(own.sum_of(keys, "flops"), line.flops, CLOSE):
        reasons.append("FLOPs by another definition")
    if not close(line.flops / sum(linked_ns) * 1e9, theirs, CLOSE):
        reasons.append("theirs is a mean of rates, ours all FLOPs by all time")
    if not close(spent, sum(linked_ns), CLOSE):
        reasons.append("theirs has the time of kernels around the counted operator, too"
                       if spent < sum(linked_ns) else "theirs leaves memsets out")
    agrees = close(ours, line.rate(), CLOSE)
    results.check(label + " FLOP/s", line.rate(), line.rate() if agrees else ours,
                  "; ".join(reasons))


def check_line(results, label, line, own, outermost):
    ops = own.instances(line.key(), outermost)
    if not ops:
        return False
    results.check(label + " calls", line.count, len(ops))
    spent = sum(own.linked_ns[id(op)] for op in ops) / 1000
    events = sum(own.linked_count[id(op)] for op in ops)
    results.near(label + " time", line.kernel_us, spent, (events + len(ops)) * TIME_STEP_US)
    keys = own.owners(ops, KINDS.get(line.category, ()))
    if not keys:
        print(f"not compared: {label}: tscope has no model of it")
        return True
    if line.category in WITH_FLOPS:
        compare(results, label + " FLOPs", line, (line.flops, own.sum_of(keys, "flops")),
                FLOPS_DEFINITIONS)
        check_rate(results, label, line, own, ops, keys)
        results.check(label + " repeated", line.repeated_count,
                      round(own.sum_of(keys, "repeated_count")))
    if line.bytes:
        inner = {key for key in keys if key[0] == line.name and key != line.key()}
        compare(results, label + " bytes", line, (line.bytes, own.sum_of(keys, "bytes")),
                BYTES_DEFINITIONS, "counts the outer of two that convert" if inner else "")
    return True


def check(tscope, _, results):
    for name, folder, trace in published_tracelens.sheets():
        own = Own(tscope, trace, name not in WITHOUT_MEMSET)
        capture = capture_of(tscope, name)
        for sheet in SHEETS:
            lines = read_lines(folder, sheet)
            for line in lines.values():
                line.category = line.category or sheet
                label = f"TraceLens {name} {sheet} {line.name} {str(line.dims)[:60]}"
                # Of operators within each other the last sheet has the outermost only.
                outermost = lines if sheet == SHEETS[-1] else {}
                if not check_line(results, label, line, own, outermost):
                    check_capture(results, label, line, capture)


def check_capture(results, label, line, capture):
    """A call of an operator of a replayed graph, by the trace of the graph's capture."""
    ops = capture.calls.get(line.key(), ())[:1] if capture else ()
    keys = capture.owners(ops, KINDS.get(line.category, ())) if ops else ()
    if not keys:
        print(f"not compared: {label}: " + ("no model of it" if ops else "not in this trace"))
        return
    flops, moved = line.flops / line.count, line.bytes / line.count
    line.count = 1
    if line.category in WITH_FLOPS:
        compare(results, label + " FLOPs in the capture", line,
                (flops, capture.sum_of(keys, "flops")), FLOPS_DEFINITIONS)
    if moved:
        compare(results, label + " bytes in the capture", line,
                (moved, capture.sum_of(keys, "bytes")), BYTES_DEFINITIONS)


def capture_of(tscope, name):
    """Nothing runs while a graph is captured: its operators alone, as a trace without devices."""
    if name not in CAPTURES:
        return None
    trace = traces.read(published_tracelens.TRACES / CAPTURES[name])
    events = [event for event in trace.events
              if isinstance(event, dict) and event.get("cat") == "cpu_op"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "capture.json"
        path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
        return Own(tscope, path)
