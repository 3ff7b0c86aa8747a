# SPDX-License-Identifier: MIT
"""Figures of kineto's TensorBoard plugin (the last version of tb_plugin): its own definitions,
worked out from the rows of tscope's model; and tscope's own tables where the definitions agree.
"""
import collections
import json
import re

import model
import program
import reference

FOLDER = program.DATA / "pytorch+kineto"
SAMPLE = (FOLDER / "@769c3eb784/tb_plugin/samples/resnet50_num_workers_0"
          / "worker0.1623143089861.pt.trace.json.gz")
SECOND_SPAN = (FOLDER / "@383a066433/tb_plugin/samples/resnet50_num_workers_0"
               / "worker0.1623143566756.pt.trace.json.gz")
MICRO = FOLDER / "inline/tb_plugin_test_profiler"
STEP = re.compile(r"ProfilerStep#\d+$")
LOADER = re.compile(r"enumerate\(DataLoader\)#.*\.__next__$")
COMMUNICATION = re.compile(r"(nccl|gloo):")
# What takes a moment of a step, first come first served.
PARTS = ("Kernel", "Memcpy", "Memset", "Communication", "Runtime", "DataLoader", "CPU Exec")


# ---- the plugin's definitions --------------------------------------------------------------


def part_of(row):
    if row.kind in ("cpu_op", "annotation", "other"):
        if STEP.match(row.name):
            return "step"
        if COMMUNICATION.match(row.name):
            return "Communication"
        return "DataLoader" if LOADER.match(row.name) else "CPU Exec"
    return {"kernel": "Kernel", "memcpy": "Memcpy", "memset": "Memset", "comm": "Communication",
            "runtime": "Runtime"}.get(row.kind)


def device_of_steps(rows, markers):
    """For each CPU step the device rows launched by a call wholly inside it; and the others."""
    launched = [[] for _ in markers]
    others = []
    for row in model.device_rows(rows):
        inside = [index for index, marker in enumerate(markers) if row.launch
                  and marker.start <= row.launch.start and row.launch.end <= marker.end]
        (launched[inside[0]] if inside else others).append(row)
    return launched, others


def step_windows(rows):
    """[start, end) of each step: a CPU step and the device work that it launched."""
    markers = sorted((row for row in rows if part_of(row) == "step"), key=lambda row: row.start)
    if not markers:
        known = [row for row in rows if row.launch or row.kind not in model.DEVICE_KINDS]
        return [(min(row.start for row in known), max(row.end for row in known))]
    launched, others = device_of_steps(rows, markers)
    before = 0
    if launched[0]:
        first = min(row.start for row in launched[0])
        before = max([row.end for row in others if row.end <= first], default=0)
    windows = []
    for marker, work in zip(markers, launched):
        end = max([row.end for row in work] + [marker.end])
        windows.append((max(before, marker.start), end))
        before = end
    return windows


def breakdown(rows):
    """For each step its parts in µs, Other and total."""
    intervals = collections.defaultdict(list)
    for row in rows:
        intervals[part_of(row)].append((row.start, row.end))
    windows, table = step_windows(rows), []
    unions = {part: reference.union(intervals[part]) for part in PARTS}
    for start, end in windows:
        left, parts = [(start, end)], {}
        for part in PARTS:
            rest = reference.subtract(left, unions[part])
            parts[part] = (reference.length(left) - reference.length(rest)) // 1000
            left = rest
        parts["Other"] = reference.length(left) // 1000
        parts["total"] = (end - start) // 1000
        table.append(parts)
    return table


class Node:
    """An operator of the plugin's tree, with the calls that it makes itself."""

    def __init__(self, row):
        self.row, self.children, self.calls = row, [], []
        self.rows = [row]  # with those that it swallowed

    def swallow(self, child):
        self.children, self.calls = child.children, child.calls
        self.rows += child.rows

    def device_self(self, device_ns):
        return sum(device_ns[row] for row in self.rows)

    def device_total(self, device_ns):
        return self.device_self(device_ns) + sum(c.device_total(device_ns) for c in self.children)


def operator_nodes(rows):
    """All operators as nodes; one whose only child has its name swallows that child."""
    threads = collections.defaultdict(list)
    for row in model.of_kinds(rows, "cpu_op", "runtime"):
        if row.kind == "runtime" or part_of(row) == "CPU Exec":
            threads[row.track].append(row)
    nodes = []
    for thread in threads.values():
        stack = []
        for row in sorted(thread, key=lambda r: (r.start, r.kind == "runtime", -r.end)):
            while stack and stack[-1].row.end <= row.start:
                stack.pop()
            if row.kind == "runtime":
                if stack:
                    stack[-1].calls.append(row)
                continue
            node = Node(row)
            if stack:
                stack[-1].children.append(node)
            nodes.append(node)
            stack.append(node)
    return without_doubles(nodes)


def without_doubles(nodes):
    swallowed = set()
    for node in nodes:
        while len(node.children) == 1 and node.children[0].row.name == node.row.name:
            swallowed.add(node.children[0])
            node.swallow(node.children[0])
    return [node for node in nodes if node not in swallowed]


def operator_table(rows):
    """name → (calls, host total, host self, device total, device self) in µs."""
    device_ns = collections.Counter()
    for row in model.device_rows(rows):
        if row.op:
            device_ns[row.op] += row.duration
    table = collections.defaultdict(lambda: [0] * 5)
    for node in operator_nodes(rows):
        inner = [child.row for child in node.children] + node.calls
        figures = (1000, node.row.duration, node.row.duration - sum(r.duration for r in inner),
                   node.device_total(device_ns), node.device_self(device_ns))
        table[node.row.name] = [a + b for a, b in zip(table[node.row.name], figures)]
    return {name: tuple(total // 1000 for total in totals) for name, totals in table.items()}


# ---- the published figures -----------------------------------------------------------------


def check_steps(results, rows, published):
    columns = [column.get("name") for column in published["steps"]["columns"]]
    table = breakdown(rows)
    for ours, row in zip(table, published["steps"]["rows"], strict=True):
        for name, figure in zip(columns, row):
            if name in ours:
                results.check(f"tb_plugin step {row[0]} {name}, µs", figure, ours[name])
    mean = sum(step["total"] for step in table) / len(table)
    results.near("tb_plugin mean step, µs", 177592, mean, 0.5)
    kernel = sum(step["Kernel"] for step in table)
    results.near("tb_plugin GPU utilisation, %", 55.51, 100 * kernel / mean / len(table), 0.005)


def check_operators(results, rows, report, published):
    table = operator_table(rows)
    own = program.rows_by_name(report, "operators", "by_name", "count", "total_ns", "device_ns",
                               "self_device_ns")
    for line in published["data"]:
        name = line["name"]
        expected = (line["calls"], line["host_total_duration"], line["host_self_duration"],
                    line["device_total_duration"], line["device_self_duration"])
        results.check(f"tb_plugin operator {name}", expected, table.get(name))
        figures = (line["calls"], *(expected[at] * 1000 for at in (1, 3, 4)))
        found = own.get(name, (0, 0, 0, 0))
        results.check(f"tb_plugin operator {name}, tscope's own", figures, found,
                      "the plugin drops an operator inside one of its name"
                      if found == WITH_DOUBLES.get(name) else "")


def check_kernels(results, report, published):
    own = program.rows_by_name(report, "kernels", "by_name", "count", "total_ns", "max_ns",
                               "min_ns", "mean_ns", "blocks_per_sm", "occupancy_pct")
    results.check("tb_plugin kernels", len(published["data"]["rows"]), len(own))
    for row in published["data"]["rows"]:
        name, _, calls, total, mean, longest, shortest, blocks, occupancy = row
        found = own.get(name, (None,) * 7)
        label = f"tb_plugin kernel {name[:50]}"
        results.check(label, (calls, total * 1000, longest * 1000, shortest * 1000), found[:4])
        for what, figure, ours, tolerance in (("mean", mean * 1000, found[4], 501),
                                              ("blocks per SM", blocks, found[5], 0.0051),
                                              ("occupancy", occupancy, found[6], 0.0051)):
            results.near(f"{label} {what}", figure, ours, tolerance)


def check_sample(tscope, probe, results):
    published = [json.loads(line) for line in
                 (FOLDER / "tb_plugin/test/result_check_w0.jsonl").read_text().splitlines()]
    rows, report = model.read(probe, SAMPLE), tscope.report(SAMPLE)
    check_steps(results, rows, published[0])
    check_operators(results, rows, report, published[2])
    check_kernels(results, report, published[3])
    results.check("tb_plugin second span, step totals, µs",
                  [171772, 149553, 149803, 149532, 154343, 154465],
                  [step["total"] for step in breakdown(model.read(probe, SECOND_SPAN))])


# An operator with others of its name inside it: what it has with them.
WITH_DOUBLES = {"aten::div": (204, 35409000, 288000, 144000)}
# Trace → the parts of each step that its test asserts (tb_plugin/test/test_profiler.py).
STEPS_OF_MICRO = {
    "test_all_categories.0": [dict(Kernel=15, Memcpy=10, Memset=5, Runtime=30, DataLoader=180,
                                   **{"CPU Exec": 35}, Other=125)],
    "test_runtime_called_by_profilerstep.0": [dict(Kernel=8, Runtime=20, **{"CPU Exec": 0},
                                                   Other=272)],
    "test_no_profilerstep.0": [dict(Kernel=100, Runtime=10, **{"CPU Exec": 70}, Other=140,
                                    total=320)],
    "test_multiple_profilersteps_no_overlap.0": [
        dict(Memcpy=40, Runtime=5, **{"CPU Exec": 55}, Other=120, total=220),
        dict(Kernel=200, Runtime=5, **{"CPU Exec": 45}, Other=10, total=260)],
    "test_last_steps_no_kernel.0": [dict(total=220)],
    "test_pure_cpu.0": [{"CPU Exec": 10, "Other": 190}, {"CPU Exec": 40, "Other": 60}],
    "test_distributed_nccl.0": [dict(Kernel=105, Communication=75, **{"CPU Exec": 20}, Other=35,
                                     total=235)],
}
# Trace → operator → columns of operator_table() asserted: host total, host self, device both.
OPERATORS_OF_MICRO = {
    "test_all_categories.0": {"aten::to": (60, None, 0, None),
                              "aten::nll_loss_backward": (70, None, 30, None)},
    "test_external_id.0": {"aten::mat_mul": (None, None, 26, 14),
                           "aten::mm": (None, None, 12, 12)},
    "test_operator_relation.0": {"aten::mat_mul": (None, 30, None, None),
                                 "aten::mm": (None, 70, None, None)},
    "test_operator_relation.1": {"aten::mat_mul": (None, 30, None, None),
                                 "aten::mm": (None, 70, None, None)},
    "test_self_time.0": {"aten::mat_mul": (100, 35, 36, 16), "aten::mm": (40, 30, 20, 20)},
}
COLUMNS = ("host total", "host self", "device total", "device self")


def check_micro(probe, results):
    for name, steps in STEPS_OF_MICRO.items():
        table = breakdown(model.read(probe, MICRO / (name + ".json")))
        for number, expected in enumerate(steps):
            for part, figure in expected.items():
                results.check(f"tb_plugin {name} step {number} {part}", figure,
                              table[number][part])
    for name, operators in OPERATORS_OF_MICRO.items():
        table = operator_table(model.read(probe, MICRO / (name + ".json")))
        for operator, expected in operators.items():
            for column, figure, found in zip(COLUMNS, expected, table[operator][1:]):
                if figure is not None:
                    results.check(f"tb_plugin {name} {operator} {column}", figure, found)


# The distributed view: computation, overlap, communication, other, in µs.
OVERLAP_OF_MICRO = {
    "test_distributed_nccl.0": [30, 75, 75, 55],
    "test_distributed_nccl.1": [121, 40, 74, 0],
    "test_distributed_gloo_cpu.0": [47, 74, 35, 0],
    "test_distributed_gloo_cpu.1": [36, 64, 34, 12],
}


def overlap(rows):
    """Kernels hide communication; without a GPU the operators do."""
    start, end = step_windows(rows)[0]
    parts = collections.defaultdict(list)
    for row in rows:
        parts[part_of(row)].append((max(start, row.start), min(end, row.end)))
    compute = reference.union(parts["Kernel"] or parts["CPU Exec"])
    exposed = reference.subtract(reference.union(parts["Communication"]), compute)
    busy = reference.union(compute + exposed)
    alone = reference.subtract(compute, reference.union(parts["Communication"]))
    lengths = [reference.length(spans) for spans in (alone, compute, exposed, busy)]
    return [ns // 1000 for ns in (lengths[0], lengths[1] - lengths[0], lengths[2],
                                  end - start - lengths[3])]


def check_overlap(probe, results):
    for name, figures in OVERLAP_OF_MICRO.items():
        results.check(f"tb_plugin {name} overlap", figures,
                      overlap(model.read(probe, MICRO / (name + ".json"))))


def check(tscope, probe, results):
    check_sample(tscope, probe, results)
    check_micro(probe, results)
    check_overlap(probe, results)
