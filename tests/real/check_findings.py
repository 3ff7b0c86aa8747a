#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Are findings true? Of every trace with device events: what must hold of any finding. And what
findings say, worked out once more from the raw events: shares in titles, counts, bytes, speeds.

usage: check_findings.py TSCOPE [FILE...]
"""
import bisect
import collections
import concurrent.futures
import csv
import pathlib
import re
import sys

import check_idle_causes
import program
import reference
import reference_flops
import traces

ROUNDING = 0.06  # percentage points that a printed share may be off
IDLE_TOLERANCE = 0.4  # of them between two programs for the same definition of causes
# Above this size idle causes are not worked out again: it takes a second for each 2 MB.
IDLE_MAX_BYTES = 3_000_000
SHARE_OF_MED, SHARE_OF_HIGH = 0.05, 0.20
TENSOR_CORES = re.compile("s16816|s1688|tensorop|h884|hmma|wgmma|bf16|f16f16")
MATRIX = re.compile("gemm|scudnn|convolve|wgrad|dgrad|winograd|conv2d|cutlass|fft[12]d|gemv", re.I)
CAUSES_OF = {
    "HOST.LAUNCH_BOUND": ("op_overhead", "launch_call", "start_latency"),
    "HOST.PYTHON": ("python",),
    "HOST.COLD_START": ("startup",),
    "HOST.COMPILE": ("compile",),
    "HOST.CPU_WORK": ("cpu_work",),
    "TIMING.DATALOADER_BOUND": ("data",),
    "TRACE.UNRECORDED": ("unrecorded", "edge"),
    "SYNC.BLOCKING": ("sync",),
    "COPY.BLOCKING": ("blocking_copy",),
}
WORDS_OF = {
    "operator dispatch": "op_overhead", "launch calls": "launch_call",
    "kernel start latency": "start_latency", "unrecorded work": "unrecorded",
    "capture edges": "edge",
}
PEAKS = {"MI300X": 1307.4e12, "H100": 989.4e12}  # of bf16, dense
HALVES = {"H100": (989.4e12, 3.35e12), "A100": (312e12, 1.555e12)}  # FLOP/s and bytes/s
# The same recording once more, in another form: its findings say the same.
COPIES = re.compile("derived/|overlaid_|benchmark_result")

Event = collections.namedtuple("Event", "start end category name args")


class Raw:
    """What a file holds, and the time that tscope counts."""

    def __init__(self, path, report):
        self.device, self.calls, self.host = [], {}, []
        self.trace = traces.read(path)
        for event in self.trace.events:
            if isinstance(event, dict) and event.get("ph") == "X":
                self.add(event)
        self.device.sort()
        self.report = report
        self.marked = sum(bool(s["mark"]) for s in report["facts"]["steps"]["list"])
        counted = [s for s in report["facts"]["steps"]["list"] if not s["mark"]]
        self.windows = [(s["start_ns"], s["start_ns"] + s["wall_ns"]) for s in counted]
        self.wall = sum(end - start for start, end in self.windows)
        self.span = max((e.end for e in self.device), default=0) - min(
            (e.start for e in self.device), default=0)

    def add(self, event):
        args, start = event.get("args") or {}, traces.to_ns(event.get("ts"))
        category, length = str(event.get("cat", "")).lower(), traces.to_ns(event.get("dur", 0))
        if start is None or length is None or not isinstance(args, dict):
            return
        row = Event(start, start + length, category, str(event.get("name", "")), args)
        if category in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
            self.device.append(row)
        elif category in ("cuda_runtime", "cuda_driver", "runtime"):
            self.calls[args.get("correlation")] = row
        else:
            self.host.append(row)

    def counted(self, events):
        return [e for e in events if any(s <= e.start < end for s, end in self.windows)]

    def share(self, spans):
        """Per cent of the counted time that sorted disjoint spans take."""
        inside = sum(max(0, min(e, end) - max(s, start))
                     for s, e in spans for start, end in self.windows)
        return 100 * inside / self.wall


def union(spans):
    merged = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def without(spans, others):
    left, ends = [], [end for _, end in others]
    for start, end in spans:
        at = bisect.bisect_right(ends, start)
        while start < end and at < len(others) and others[at][0] < end:
            if others[at][0] > start:
                left.append([start, others[at][0]])
            start, at = max(start, others[at][1]), at + 1
        if start < end:
            left.append([start, end])
    return left


def length(spans):
    return sum(end - start for start, end in spans)


def spans_of(events):
    return union((e.start, e.end) for e in events)


def numbers(text):
    return [float(n) for n in re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text or "")]


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def first_quantity(text):
    """In ns or bytes, and half of the last of the digits that it is rounded to."""
    number, decimals, unit = re.search(r"(\d+(?:\.(\d+))?) (ns|µs|ms|s|B|KiB|MiB|GiB)\b", text).groups()
    return float(number) * UNITS[unit], 0.51 * 10.0 ** -len(decimals or "") * UNITS[unit]


# ---- what must hold of every finding -----------------------------------------------------------


def causes():
    text = (program.SOURCE_ROOT / "src/rules/cause_list.h").read_text()
    return set(re.findall(r"^CAUSE\((\w+),", text, re.MULTILINE))


def is_busy(spans, start, end):
    at = bisect.bisect_right([e for _, e in spans], start)
    return at < len(spans) and spans[at][0] < end


def place_errors(finding, report, busy):
    first, last = report["trace"]["first_ns"], report["trace"]["last_ns"]
    for place in finding["at"]:
        start = round(place["ts_us"] * 1000)
        end = start + round(place["dur_us"] * 1000)
        slack = 600  # ts_us is a double: times of today are good to 250 ns
        if start < first - slack or end > last + slack:
            yield f"place {place['ts_us']} is outside of the trace"
        if finding["id"] in CAUSES_OF and is_busy(busy, start + slack, end - slack):
            yield f"the device is not idle at {place['ts_us']}"


def finding_errors(finding, step_ns):
    gain, severity = finding["gain_ns"], finding["severity"]
    if finding["cause"] not in causes():
        yield f"cause {finding['cause']}"
    if gain is None:
        return
    if gain < 0:
        yield f"gain {gain}"
    least = {"high": SHARE_OF_HIGH, "med": SHARE_OF_MED, "low": 0}[severity]
    if step_ns and gain + 1 < least * step_ns:
        yield f"{severity}, and wins {gain} of {step_ns}"
    title = numbers(finding["title"])
    is_share = finding["id"] in CAUSES_OF or finding["id"] == "GPU.IDLE"
    if step_ns and is_share and gain > (title[0] + ROUNDING) / 100 * step_ns + 1:
        yield f"wins {100 * gain / step_ns:.1f} % of the step"


def errors_of(report, raw):
    step_ns = (report["facts"].get("step_time") or {}).get("mean_ns") or 0
    sum_ns = sum(f["gain_ns"] or 0 for f in report["findings"])
    busy = spans_of(raw.device)
    if step_ns and sum_ns > step_ns + 1:
        yield "", f"gains of {sum_ns} in a step of {step_ns}"
    for finding in report["findings"]:
        for error in (*finding_errors(finding, step_ns), *place_errors(finding, report, busy)):
            yield finding["id"], error + ": " + finding["title"]


# ---- findings worked out again: (what, expected, found, tolerance) ------------------------------


def is_comm(event):
    return re.search("nccl|rccl", event.name, re.IGNORECASE) and "emcpy" not in event.name


def is_copy(event):
    return "mem" in event.category or re.match("Mem(cpy|set)", event.name)


def kernels(raw):
    return [e for e in raw.device if not is_copy(e) and not is_comm(e)]


def exposed_comm(raw, finding):
    comm = spans_of(filter(is_comm, raw.device))
    exposed = length(without(comm, spans_of(kernels(raw))))
    hidden = numbers(finding["detail"])[1]
    total, rounding = first_quantity(finding["detail"])
    yield "share", raw.share(without(comm, spans_of(kernels(raw)))), numbers(finding["title"])[0], ROUNDING
    yield "ns", length(comm), total, rounding
    yield "hidden", 100 - 100 * exposed / length(comm), hidden, ROUNDING


def copy_exposed(raw, finding):
    spans = without(spans_of(filter(is_copy, raw.device)), spans_of(
        e for e in raw.device if not is_copy(e)))
    yield "share", raw.share(spans), numbers(finding["title"])[0], ROUNDING


def copy_pageable(raw, finding):
    copies = [e for e in raw.device if "Pageable" in e.name]
    total = sum(e.end - e.start for e in copies)
    yield "share", 100 * total / raw.span, numbers(finding["title"])[0], ROUNDING
    if "GB/s" in finding["detail"]:
        moved = sum(int(e.args["bytes"]) for e in copies)
        yield "bytes", moved, *first_quantity(finding["detail"])
        yield "GB/s", moved / total, numbers(finding["detail"])[1], 0.06


def gaps_before(raw, is_wanted):
    """Idle time of at most 100 us before some of the device's events."""
    total, frontier = 0, None
    for event in raw.device:
        gap = event.start - frontier if frontier is not None else 0
        if 0 < gap <= 100_000 and is_wanted(event):
            total += gap
        frontier = max(event.end, frontier or 0)
    return total


def copy_small(raw, finding):
    is_small = lambda e: "Memcpy" in e.name and int(e.args.get("bytes", 1 << 30)) <= 65536
    copies = raw.counted(filter(is_small, raw.device))
    count, _, share = numbers(finding["title"])  # between them is the size
    alone = without(spans_of(copies), spans_of(e for e in raw.device if not is_copy(e)))
    yield "count", len(copies) / len(raw.windows), count, 0.51
    took = length(alone) + gaps_before(raw, is_small)
    yield "share", 100 * took / raw.wall, share, ROUNDING


def kernel_layout(raw, finding):
    found = raw.counted(e for e in raw.device
                        if re.search("nchwToNhwc|nhwcToNchw|batched_transpose", e.name, re.I))
    yield "share", raw.share(spans_of(found)), numbers(finding["title"])[0], ROUNDING
    yield "count", len(found) / len(raw.windows), numbers(finding["detail"])[0], 0.51


def kernel_memory_bound(raw, finding):
    name = re.compile("elementwise|reduce_kernel|CatArray|copyBuffer|Memcpy DtoD|softmax|index_|"
                      "gather|scatter", re.IGNORECASE)
    found = raw.counted(e for e in kernels(raw) if name.search(e.name)
                        and e.end - e.start >= 10_000)
    yield "share", raw.share(spans_of(found)), numbers(finding["title"])[0], ROUNDING
    yield "count", len(found) / len(raw.windows), numbers(finding["detail"])[0], 0.51


def kernel_optimizer(raw, finding):
    within = union((e.start, e.end) for e in raw.host
                   if re.match(r"Optimizer\.(step|zero_grad)", e.name))
    def is_its(event):
        call = raw.calls.get(event.args.get("correlation"))
        return call and is_busy(within, call.start, call.start + 1)
    found = raw.counted(e for e in kernels(raw) if is_its(e))
    busy, gap = numbers(finding["detail"])[:2]
    yield "count", len(found) / len(raw.windows), numbers(finding["title"])[0], 0.51
    yield "share", raw.share(spans_of(found)), busy, ROUNDING
    yield "gaps", 100 * gaps_before(raw, is_its) / raw.wall, gap, ROUNDING


def no_tensor_cores(raw, finding):
    plain = [e for e in kernels(raw) if MATRIX.search(e.name) and not TENSOR_CORES.search(e.name)]
    total = sum(e.end - e.start for e in plain)
    unknown = numbers(finding["detail"])[1]
    yield "share", 100 * total / raw.span, numbers(finding["title"])[0], unknown + 2 * ROUNDING


def tiny_collectives(raw, finding):
    tiny = raw.counted(e for e in raw.device if is_comm(e) and e.end - e.start < 1_000_000)
    alone = without(spans_of(tiny), spans_of(kernels(raw)))
    count, share = numbers(finding["title"])
    yield "count", len(tiny) / len(raw.windows), count, 0.51
    yield "share", raw.share(alone), share, ROUNDING


def unlinked(raw, finding):
    # An operator's External id binds, too.
    ids = {e.args.get("External id", e.args.get("external id")) for e in raw.host} - {None}
    missing = [e for e in raw.device if e.args.get("correlation") not in raw.calls
               and e.args.get("External id", e.args.get("external id")) not in ids]
    total = sum(e.end - e.start for e in raw.device)
    part = sum(e.end - e.start for e in missing)
    count, of = numbers(finding["detail"])
    yield "count", len(missing), count, 0
    yield "of", len(raw.device), of, 0
    yield "share", 100 * part / total, numbers(finding["title"])[0], ROUNDING


def incomplete(raw, finding):
    steps = {e.name for e in raw.host if re.match(r"ProfilerStep#\d+$", e.name)}
    if "marks no steps" in finding["title"]:
        yield "steps", len(steps), 0, 0
    elif "only" in finding["title"] and steps:
        # Cold ones and those that the capture cuts do not count.
        yield "steps", len(steps) - raw.marked, numbers(finding["title"])[0], 0


def low_bandwidth(raw, finding):
    """Of messages of 16 MiB and more the fastest: all-reduces move twice (n - 1) / n of them."""
    best = 0
    for event in filter(is_comm, raw.device):
        size = int(event.args.get("In msg nelems", 0)) * 2
        ranks = int(event.args.get("Group size", 1))
        if size >= 1 << 24:
            best = max(best, size * 2 * (ranks - 1) / ranks / (event.end - event.start))
    yield "GB/s", best, numbers(finding["title"])[0], 0.06


def unfused_attention(raw, finding):
    """Operators other than products that read a tensor S x S which softmax reads, too."""
    shape = [int(n) for n in re.search(r"(\d+)x(\d+)x(\d+)", finding["detail"]).groups()]
    def reads_scores(event):
        return shape in event.args.get("Input Dims", [])
    ops = union((e.start, e.end) for e in raw.host if e.category == "cpu_op" and reads_scores(e)
                and not re.search("bmm|matmul|baddbmm|linear|mm$", e.name))
    def is_its(event):
        call = raw.calls.get(event.args.get("correlation"))
        return call and is_busy(ops, call.start, call.start + 1)
    found = raw.counted(e for e in raw.device if is_its(e))
    yield "share", raw.share(spans_of(found)), numbers(finding["title"])[0], ROUNDING


def low_mfu(raw, finding):
    """FLOPs by the second implementation."""
    names = {e.name for e in kernels(raw)}
    total = reference_flops.Flops(reference.Reference(raw.trace), names).total()
    name = raw.report["trace"]["device_name"] or raw.report["facts"]["efficiency"]["device"]
    peak = next(peak for part, peak in PEAKS.items() if part in name)
    yield "MFU", 100 * total / (raw.wall / 1e9 * peak), numbers(finding["title"])[0], ROUNDING


Product = collections.namedtuple("Product", "dims half operator")


def product_of(operator):
    """Batch, rows, columns and inner size, and whether operands are halves; None: no product."""
    at = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}.get(operator.name)
    dims, types = operator.args.get("Input Dims") or [], str(operator.args.get("Input type"))
    if at is None or len(dims) < at + 2 or len(dims[at]) < 2 or len(dims[at + 1]) < 2:
        return None
    batch = dims[at][0] if len(dims[at]) == 3 else 1
    return Product((batch, dims[at][-2], dims[at + 1][-1], dims[at][-1]),
                   "Half" in types or "BFloat16" in types, operator)


def least_ns(raw, product):
    """What the product could take at best; None where the device is not known."""
    name = raw.report["trace"]["device_name"] or ""
    batch, rows, columns, inner = product.dims
    moved = batch * (rows * inner + inner * columns + rows * columns) * (2 if product.half else 4)
    for part, (peak, bandwidth) in HALVES.items():
        if part in name and product.half:
            flops = 2 * batch * rows * columns * inner
            return 1e9 * max(flops / peak, moved / bandwidth)
    return None


def padding(raw, finding):
    """Products whose columns or inner size are no multiple of 16 bytes, by what was launched."""
    products = sorted(filter(None, map(product_of, raw.host)), key=lambda p: p.operator.start)
    starts, times = [p.operator.start for p in products], collections.defaultdict(list)
    for event in filter(lambda e: MATRIX.search(e.name), kernels(raw)):
        call = raw.calls.get(event.args.get("correlation"))
        at = bisect.bisect_right(starts, call.start) - 1 if call else -1
        if at >= 0 and products[at].operator.end >= call.start:
            times[products[at].operator.name, products[at].dims, products[at].half].append(
                (event, products[at]))
    total = 0
    for launched in times.values():
        product, names = launched[0][1], " ".join(e.name for e, _ in launched)
        piece = 8 if product.half else 4
        ns = sum(e.end - e.start for e, _ in launched)
        calls, least = len({p.operator.start for _, p in launched}), least_ns(raw, product)
        loaded = re.search(r"_align(\d+)", max(launched, key=lambda x: x[0].end - x[0].start)[0].name)
        slow = (loaded and int(loaded[1]) < piece) or (least and least * calls < 0.5 * ns)
        is_tensor = product.half or "s1688" in names
        if any(size % piece for size in product.dims[2:]) and slow and is_tensor and \
                ns >= 20_000 * calls:
            total += ns
    yield "share", 100 * total / raw.span, numbers(finding["title"])[0], ROUNDING


def python_calls(raw, finding):
    frames = [e for e in raw.host if e.category == "python_function"]
    work = raw.report["facts"]["integrity"]["work_ns"]
    if "Python functions" in finding["title"]:
        yield "rate", 1e6 * len(frames) / work, numbers(finding["title"])[0], 0.5
        yield "count", len(frames), numbers(finding["detail"])[0], 0


def outer_operators(raw):
    """Operators of counted steps that no other encloses, in their order; of one thread mostly."""
    frontier, operators = 0, []
    for event in sorted((e for e in raw.host if e.category == "cpu_op"),
                        key=lambda e: (e.start, -e.end)):
        if event.start >= frontier:
            frontier = event.end
            operators.append(event)
    return raw.counted(operators)


def conv_bias(raw, finding):
    outer = [e for e in outer_operators(raw) if e.name != "aten::add_"]
    def has_bias(event):
        dims = event.args.get("Input Dims") or []
        return re.match(r"aten::conv\dd$", event.name) and len(dims) > 2 and dims[2]
    count = sum(bool(b.name == "aten::batch_norm" and has_bias(a)) for a, b in zip(outer, outer[1:]))
    yield "count", count / len(raw.windows), numbers(finding["title"])[0], 0.51


def host_tensor(raw, finding):
    """Both operators of each pair, of tensors of one size."""
    total, outer = 0, outer_operators(raw)
    inner = [e for e in raw.host if re.match(r"aten::(fill_|zero_|normal_|uniform_)$", e.name)]
    for made, moved in zip(outer, outer[1:]):
        filled = [e for e in inner if made.start <= e.start < made.end]
        calls = [c for c in raw.calls.values() if made.start <= c.start < moved.end]
        sizes = (moved.args.get("Input Dims") or [[]])[0]
        if moved.name == "aten::to" and filled and sizes == filled[-1].args["Input Dims"][0] and \
                calls and min(c.start for c in calls) >= moved.start and \
                any("emcpy" in c.name for c in calls):
            total += moved.end - made.start
    yield "share", 100 * total / raw.wall, numbers(finding["title"])[0], ROUNDING


def graph_capture(raw, finding):
    if "capture of a graph" in finding["title"]:
        captured, launched = numbers(finding["detail"])
        calls = sum(bool(re.search("LaunchKernel|Memcpy|Memset|GraphLaunch", c.name))
                    for c in raw.calls.values())
        yield "launches", calls, launched, 0
        # The rule goes by the share of launches, or by the folder that engines keep captures in.
        if "capture_traces/" not in raw.report["inputs"][0]["path"]:
            yield "captured", 1, captured / launched if launched else 0, 0.5


AGAIN = {
    "DIST.EXPOSED_COMM": exposed_comm, "COPY.EXPOSED": copy_exposed,
    "COPY.PAGEABLE": copy_pageable, "COPY.SMALL": copy_small, "KERNEL.LAYOUT": kernel_layout,
    "KERNEL.MEMORY_BOUND": kernel_memory_bound, "KERNEL.OPTIMIZER": kernel_optimizer,
    "KERNEL.NO_TENSOR_CORES": no_tensor_cores, "DIST.TINY_COLLECTIVES": tiny_collectives,
    "TRACE.UNLINKED": unlinked, "TRACE.INCOMPLETE": incomplete,
    "NCCL.LOW_BANDWIDTH": low_bandwidth, "KERNEL.UNFUSED_ATTENTION": unfused_attention,
    "KERNEL.CONV_BIAS": conv_bias, "COPY.HOST_TENSOR": host_tensor, "KERNEL.PADDING": padding,
    "HOST.PROFILER": python_calls, "HOST.COMPILE": graph_capture, "EFFICIENCY.LOW_MFU": low_mfu,
}


def idle_again(path, report):
    """Per cent of the step by cause, by the other program; None where it cannot say."""
    window = check_idle_causes.window_of(report)
    if not window or path.stat().st_size > IDLE_MAX_BYTES or \
            report["inputs"][0]["bytes"] > IDLE_MAX_BYTES:
        return None
    if any(part in str(path) for part in check_idle_causes.REASONS):
        return None
    sums, slack = check_idle_causes.causes_of(check_idle_causes.other_program(), str(path), window,
                                              report["facts"]["steps"]["boundary"])
    wall = window[1] - window[0]
    shares = {cause: 100 * ns / wall for cause, ns in sums.items()}
    return shares, IDLE_TOLERANCE + 100 * slack / wall


def idle_figures(finding, shares, tolerance):
    wanted = CAUSES_OF.get(finding["id"], shares)
    yield "share", sum(shares.get(c, 0) for c in wanted), numbers(finding["title"])[0], tolerance
    for words, cause in WORDS_OF.items():
        said = re.search(r"; (\d+\.\d) % " + re.escape(words), "; " + (finding["detail"] or ""))
        if said:
            yield cause, shares.get(cause, 0), float(said[1]), tolerance


def again(path, report, raw):
    """(rule, [(what, expected, found, tolerance)]) of each finding that can be worked out."""
    shares = None
    for finding in report["findings"]:
        rule, figures = finding["id"], []
        if rule in AGAIN:
            figures = list(AGAIN[rule](raw, finding))
        if not figures and rule in (*CAUSES_OF, "GPU.IDLE"):
            shares = shares or idle_again(path, report)
            if shares:
                figures = list(idle_figures(finding, *shares))
        if figures:
            yield rule, figures


def check(tscope, path):
    try:
        report = program.Program(tscope).report(path)
    except RuntimeError:
        return [], []  # check_all_files.py says whether that is right
    raw = Raw(path, report)
    errors = [f"{rule}: {error}" for rule, error in errors_of(report, raw)]
    return errors, [] if COPIES.search(str(path)) else list(again(path, report, raw))


def gpu_traces():
    with open(program.need(program.DATA / "files.tsv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            path = program.DATA / row["file"]
            if row["kind"] == "json" and row["gpu_events"] not in ("", "0") and path.exists():
                yield path


def report_again(label, found, count, failed):
    for rule, figures in found:
        count[rule] += 1
        wrong = [f"{what} {expected:.6g}, tscope {said}" for what, expected, said, tolerance
                 in figures if abs(expected - said) > tolerance]
        if wrong:
            failed[rule] += 1
            print(f"DIFFERS: {label}: {rule}: {', '.join(wrong)}")


def main():
    tscope, *paths = sys.argv[1:]
    paths = sorted(map(pathlib.Path, paths or gpu_traces()), key=lambda p: -p.stat().st_size)
    count, failed, errors = collections.Counter(), collections.Counter(), 0
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        jobs = [(path, pool.submit(check, tscope, path)) for path in paths]
        for path, job in jobs:
            wrong, found = job.result()
            errors += len(wrong)
            for error in wrong:
                print(f"DIFFERS: {program.short(path)}: {error}")
            report_again(program.short(path), found, count, failed)
    for rule in sorted(count):
        print(f"{rule}: {count[rule]} worked out again, {failed[rule]} differ")
    print(f"{len(paths)} traces, {errors} errors; {sum(count.values())} findings worked out again, "
          f"{sum(failed.values())} differ")
    return 1 if errors or failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
