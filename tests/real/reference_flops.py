# SPDX-License-Identifier: MIT
"""FLOPs of operators, a second time: formulas straight from the arguments as the trace has them,
and which operators are counted, by the shortest way that is plainly right.

A formula takes an operator's arguments and returns its FLOPs, or fails (Unknown, or any error that
lists of a wrong form raise) where they are not recorded.
"""
import collections
import copy
import math

import reference

BACKWARD_NODE = "autograd::engine::evaluate_function"


class Unknown(Exception):
    """The trace does not say what the formula needs."""


class Call:
    """The arguments of one call: sizes of tensors, values of the others."""

    def __init__(self, row):
        args = row.args
        self.dims = args.get("Input Dims", args.get("Input dims")) or []
        self.types = args.get("Input type") or []
        self.values = args.get("Concrete Inputs") or []
        self.name = row.name
        said = args.get("flops")
        self.said = float(said) if said is not None else None

    def signature(self):
        """As tscope prints it in the column inputs."""
        dims = str(self.dims).replace("'", "")
        return f"{dims} {', '.join(self.types)}" if self.types else dims

    def key(self):
        """Which operators have a row together."""
        return self.name, self.signature()

    def shape(self, index, rank=None):
        shape = self.dims[index]
        if not shape and not self.types or rank and len(shape) != rank:
            raise Unknown
        if any(not isinstance(size, int) or size < 0 for size in shape):
            raise Unknown
        return shape

    def has(self, index):
        """Is this argument a tensor?"""
        return bool(self.dims[index:index + 1] and self.dims[index])

    def flag(self, index):
        return {"True": True, "False": False}[self.values[index]]

    def flags(self, index):
        return [{"True": True, "False": False}[text]
                for text in self.values[index].strip("[]").split(", ")]

    def numbers(self, index, count):
        """A list of ints; one stands for all dimensions."""
        text = self.values[index].strip("[]()")
        numbers = [int(part) for part in text.split(",") if part.strip()]
        if len(numbers) not in (1, count):
            raise Unknown
        return numbers * count if len(numbers) == 1 else numbers


# ---- products ------------------------------------------------------------------------------


def product(a, b):
    """FLOPs of torch.matmul of these two shapes."""
    if not a or not b:
        raise Unknown
    a = [1] + a if len(a) == 1 else a
    b = b + [1] if len(b) == 1 else b
    if a[-1] != b[-2]:
        raise Unknown
    batch = 1
    for i in range(3, max(len(a), len(b)) + 1):
        sizes = {shape[-i] for shape in (a, b) if len(shape) >= i} - {1}
        if len(sizes) > 1:
            raise Unknown
        batch *= sizes.pop() if sizes else 1
    return 2 * batch * a[-2] * a[-1] * b[-1]


def product_of(first, rank=None):
    return lambda call: product(call.shape(first, rank), call.shape(first + 1))


def linear(call):
    *lead, k = call.shape(0)
    weight = call.shape(1)
    n = weight[0] if len(weight) == 2 else 1
    if weight[-1] != k:
        raise Unknown
    return 2 * math.prod(lead) * k * n


def linear_of_script(call):
    """TorchScript once recorded what else lay on its stack, before the three arguments."""
    call.dims = call.dims[-3:]
    return linear(call)


def dot(call):
    return 2 * call.shape(0, 1)[0]


def addbmm(call):
    return product(call.shape(1, 3), call.shape(2, 3))


# ---- convolutions --------------------------------------------------------------------------
#
# Each element of a weight meets each place of the output once (of the input, if transposed) for
# each of the batch: groups and channels are in the weight's shape already.


def spatial(shape, weight):
    """(batch, sizes) of an input, which may lack the batch."""
    rank = len(weight) - 2
    if rank < 1 or len(shape) not in (rank + 1, rank + 2):
        raise Unknown
    return (shape[0] if len(shape) == rank + 2 else 1), shape[-rank:]


def conv_flops(batch, places, weight):
    return 2 * batch * math.prod(places) * math.prod(weight)


def conv_sizes(call, sizes, kernel, stride, padding, dilation):
    count = len(kernel)
    strides = call.numbers(stride, count)
    dilations = call.numbers(dilation, count) if dilation is not None else [1] * count
    if call.values[padding] in ("same", "valid"):
        whole = [d * (k - 1) for k, d in zip(kernel, dilations)]
        totals = whole if call.values[padding] == "same" else [0] * count
    else:
        totals = [2 * p for p in call.numbers(padding, count)]
    return [max(0, (size + total - d * (k - 1) - 1) // s + 1)
            for size, k, s, total, d in zip(sizes, kernel, strides, totals, dilations)]


def conv(stride, padding, dilation, transposed=None):
    """By the places of the arguments; transposed: the place of a flag, or True."""
    def flops(call):
        weight = call.shape(1)
        batch, sizes = spatial(call.shape(0), weight)
        is_transposed = transposed is True or transposed is not None and call.flag(transposed)
        if not is_transposed:
            sizes = conv_sizes(call, sizes, weight[2:], stride, padding, dilation)
        return conv_flops(batch, sizes, weight)
    return flops


def conv_backward(call):
    """Of the three gradients those of input and weight are as large as the forward pass."""
    weight = call.shape(2)
    batch, places = spatial(call.shape(1 if call.flag(7) else 0), weight)
    return sum(call.flags(10)[:2]) * conv_flops(batch, places, weight)


def conv_backward_of_input(call):
    """Of older cuDNN: gradient of the output, weight; neither stride nor groups are needed."""
    weight = call.shape(2)
    return conv_flops(*spatial(call.shape(1), weight), weight)


# ---- attention -----------------------------------------------------------------------------


def attention_flops(q, k, v, qk_products, v_products, has_heads_first):
    """q: [batch, heads, length, size], or with length before heads."""
    length = 2 if has_heads_first else 1
    if len(q) != 4 or len(k) != 4 or len(v) != 4 or q[3] != k[3] or k[length] != v[length]:
        raise Unknown
    heads = q[3 - length]
    return 2 * q[0] * heads * q[length] * k[length] * (qk_products * q[3] + v_products * v[3])


def attention(first=0, backward=False, has_heads_first=True, lengths=None):
    """first: the place of q; lengths: of the sizes of packed sequences, if it takes such."""
    def flops(call):
        if lengths is not None and call.has(lengths):
            raise Unknown
        shapes = [call.shape(i) for i in range(first, first + 3)]
        return attention_flops(*shapes, *((3, 2) if backward else (1, 1)), has_heads_first)
    return flops


def experts(call):
    """Each token goes through both layers of as many experts as it has weights."""
    tokens, up, down, weights = (call.shape(i) for i in range(4))
    return 2 * tokens[0] * weights[1] * (up[1] * up[2] + down[1] * down[2])


FORMULAS = {
    "vllm::rocm_aiter_fused_moe": experts,
    "aten::mm": product_of(0, 2), "aten::_int_mm": product_of(0, 2),
    "aten::_scaled_mm": product_of(0, 2), "aten::bmm": product_of(0, 3),
    "aten::matmul": product_of(0), "aten::mv": product_of(0, 2),
    "aten::addmm": product_of(1, 2), "aten::_addmm_activation": product_of(1, 2),
    "aten::baddbmm": product_of(1, 3), "aten::addmv": product_of(1, 2), "aten::addbmm": addbmm,
    "aten::dot": dot, "aten::vdot": dot, "aten::linear": linear_of_script,
    "aiter::gemm_a16w16": linear, "vllm::rocm_unquantized_gemm": linear,
    "aten::convolution": conv(3, 4, 5, 6), "aten::_convolution": conv(3, 4, 5, 6),
    "aten::cudnn_convolution": conv(3, 2, 4),
    "aten::cudnn_convolution_relu": conv(3, 4, 5),
    "aten::cudnn_convolution_add_relu": conv(5, 6, 7),
    "aten::cudnn_convolution_transpose": conv(None, None, None, True),
    "aten::miopen_convolution": conv(4, 3, 5), "aten::mkldnn_convolution": conv(4, 3, 5),
    "aten::miopen_depthwise_convolution": conv(4, 3, 5),
    "aten::miopen_convolution_transpose": conv(None, None, None, True),
    "aten::thnn_conv2d": conv(4, 5, None), "aten::_slow_conv2d_forward": conv(4, 5, None),
    "aten::slow_conv3d": conv(4, 5, None), "aten::slow_conv3d_forward": conv(4, 5, None),
    "aten::_conv_depthwise2d": conv(4, 5, 6), "aten::conv_depthwise3d": conv(4, 5, 6),
    "aten::convolution_backward": conv_backward,
    "aten::cudnn_convolution_backward_input": conv_backward_of_input,
    "aten::scaled_dot_product_attention": attention(),
    "aten::_scaled_dot_product_flash_attention": attention(),
    "aten::_scaled_dot_product_flash_attention_for_cpu": attention(),
    "aten::_scaled_dot_product_efficient_attention": attention(),
    "aten::_scaled_dot_product_cudnn_attention": attention(),
    "aten::_scaled_dot_product_flash_attention_backward": attention(1, True),
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward": attention(1, True),
    "aten::_scaled_dot_product_efficient_attention_backward": attention(1, True),
    "aten::_scaled_dot_product_cudnn_attention_backward": attention(1, True),
    "aten::_flash_attention_forward": attention(0, False, False, 3),
    "aten::_efficient_attention_forward": attention(0, False, False, 4),
    "aten::_flash_attention_backward": attention(1, True, False, 6),
    "aten::_efficient_attention_backward": attention(1, True, False, 6),
    "aiter::fmha_v3_fwd": attention(0, False, False),
}
for _rank in "123":
    FORMULAS[f"aten::conv{_rank}d"] = conv(3, 4, 5)
    FORMULAS[f"aten::conv_transpose{_rank}d"] = conv(None, None, None, True)


def flops_of(call):
    """FLOPs of one call, or None: no formula, or not recorded. A writer may say them itself."""
    if call.said is not None:
        return call.said
    formula = FORMULAS.get(call.name)
    try:
        return formula(copy.copy(call)) if formula else None
    except (Unknown, IndexError, KeyError, TypeError, ValueError, AttributeError):
        return None


# ---- what is counted -----------------------------------------------------------------------


class Counted:
    """A counted call of an operator."""
    __slots__ = ("row", "call", "flops", "is_repeated", "device_ns")

    def __init__(self, row, call, flops):
        self.row, self.call, self.flops = row, call, flops
        self.is_repeated, self.device_ns = False, 0

    def key(self):
        return self.call.key()


def is_forward(row):
    return "Sequence number" in row.args and not row.args.get("Fwd thread id")


def is_backward(row):
    return bool(row.args.get("Fwd thread id")) or row.name.startswith(BACKWARD_NODE)


def runs_again(row):
    """Does autograd record this operator, or one around it, while a backward node runs?"""
    is_recorded = False
    for around in (row, *reference.outer_ops(row)):
        if is_backward(around):
            return is_recorded
        is_recorded = is_recorded or is_forward(around)
    return False


def launching_ops(event):
    """The operators in which a device event was launched, innermost first; of a graph none."""
    is_graph = event.args.get("graph id") or event.launch and "GraphLaunch" in event.launch.name
    if event.op and not is_graph:
        yield event.op
        yield from reference.outer_ops(event.op)


class Flops:
    """The counted operators of a trace: ours is its Reference, matrix_names are the names of
    kernels that multiply."""

    def __init__(self, ours, matrix_names=frozenset()):
        self.launched_below = collections.Counter()  # by id of op: device events
        self.loose = collections.Counter()  # by id of op: matrix kernels, of no product within it
        for event in ours.device_rows:
            for op in launching_ops(event):
                self.launched_below[id(op)] += 1
            if event.name in matrix_names and (op := next(launching_ops(event), None)):
                self.loose[id(op)] += 1
        self.needs_launch = bool(ours.device_rows)
        self.ops = [found for op in ours.by_kind["cpu_op"] if (found := self.candidate(op))]
        self._leave_standing(ours.by_kind["cpu_op"])
        self._mark_repeated()
        self._give_device_time(ours)

    def candidate(self, op):
        call = Call(op)
        flops = flops_of(call)
        if flops is None or self.needs_launch and not self.launched_below[id(op)]:
            return None
        return Counted(op, call, flops)

    def _leave_standing(self, cpu_ops):
        """A product stands for what is within it if there is no other, or if it launched matrix
        kernels beside those and has no fewer FLOPs. The outermost that stand are counted."""
        found_by_id = {id(found.row): found for found in self.ops}
        flops, standing = {}, set()  # by id of op: FLOPs of the products within; those that stand
        for op in sorted(cpu_ops, key=lambda op: -sum(1 for _ in reference.outer_ops(op))):
            key, found = id(op), found_by_id.get(id(op))
            if found and (key not in flops or self.loose[key] and found.flops >= flops[key]):
                standing.add(key)
                flops[key], self.loose[key] = found.flops, 0
            if op.parent:
                self.loose[id(op.parent)] += self.loose[key]
                if key in flops:
                    flops[id(op.parent)] = flops.get(id(op.parent), 0) + flops[key]
        self.ops = [found for found in self.ops if id(found.row) in standing and
                    not any(id(op) in standing for op in reference.outer_ops(found.row))]

    def _mark_repeated(self):
        outside = {found.key() for found in self.ops
                   if not any(is_backward(op) for op in reference.outer_ops(found.row))}
        for found in self.ops:
            found.is_repeated = runs_again(found.row) and found.key() in outside

    def _give_device_time(self, ours):
        counted = {id(found.row): found for found in self.ops}
        for event in ours.device_rows:
            for op in launching_ops(event):
                if id(op) in counted:
                    counted[id(op)].device_ns += event.duration
                    break

    def total(self):
        return sum(found.flops for found in self.ops)

    def by_operator(self):
        """(name, inputs) → [count, repeated count, FLOPs, device ns]."""
        table = collections.defaultdict(lambda: [0, 0, 0, 0])
        for found in self.ops:
            figures = table[found.key()]
            figures[0] += 1
            figures[1] += found.is_repeated
            figures[2] += found.flops
            figures[3] += found.device_ns
        return table
