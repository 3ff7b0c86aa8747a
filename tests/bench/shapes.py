#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of hostile shapes: each is a pattern that a careless analyzer takes quadratic time for.

usage: shapes.py SHAPE COUNT FILE      writes a trace of about so many events

To add one: a function here that yields the text of events, and its name in SHAPES.
"""
import itertools
import random
import sys

HEAD = ('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],'
        ' "record_shapes": 1, "with_flops": 1, "traceEvents": [\n')
TAIL = '\n], "displayTimeUnit": "ms", "baseTimeNanoseconds": 1767189312000000000}\n'
PROCESS = 4000
START_US = 1000
LONG_NAME = "void cutlass::Kernel<" + "cutlass::gemm::device::GemmUniversal, " * 107 + "128>"


# ---- events --------------------------------------------------------------------------------


def span(category, name, start_us, dur_us, *, pid=PROCESS, tid=PROCESS, args=""):
    return (f'{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {pid}, "tid": {tid}, '
            f'"ts": {start_us}.000, "dur": {dur_us}.000, "args": {{{args}}}}}')


def operator(name, start_us, dur_us, **where):
    return span("cpu_op", name, start_us, dur_us, **where)


def launch(start_us, correlation, operator_id=0):
    return span("cuda_runtime", "cudaLaunchKernel", start_us, 2,
                args=f'"External id": {operator_id}, "cbid": 211, "correlation": {correlation}')


def kernel(name, start_us, dur_us, correlation, *, device=0, stream=7):
    return span("kernel", name, start_us, dur_us, pid=device, tid=stream,
                args=f'"device": {device}, "context": 1, "stream": {stream}, '
                     f'"correlation": {correlation}, "grid": [132, 1, 1], "block": [128, 1, 1]')


def pair(number, name="gemm", correlation=None, **where):
    """A call that launches and what it launched; the pairs of all numbers follow one another."""
    start_us = START_US + 10 * number
    correlation = number if correlation is None else correlation
    yield launch(start_us, correlation)
    yield kernel(name, start_us + 4, 5, correlation, **where)


# ---- shapes --------------------------------------------------------------------------------
# Each is called with the number of events that is wanted, and yields about as many.


def usual(count):
    """What the others are to be compared with: operators that launch kernels, one step in 100."""
    for number in range(count // 3):
        start_us = START_US + 10 * number
        yield operator(f"aten::op{number % 50}", start_us, 6)
        yield launch(start_us + 1, number)
        yield kernel(f"kernel{number % 20}", start_us + 4, 5, number)


class Thread:
    """A thread that runs one span after the other, and inside of others. Its clock counts µs."""

    def __init__(self, tid, start_us):
        self.tid, self.now_us, self.events = tid, start_us, []

    def run(self, category, name, args, *inside):
        """A span with what `inside` (functions) does in it."""
        start_us = self.now_us
        self.now_us += 1
        for work in inside:
            work()
        self.now_us += 1
        self.events.append(span(category, name, start_us, self.now_us - start_us, tid=self.tid,
                                args=args))


class Training:
    """The usual work at its usual density: frames of Python, modules and operators with shapes that
    launch kernels and take memory. has_device: else the operators compute on the host.
    """
    WIDTHS = (512, 1024, 4096)

    def __init__(self, has_device):
        self.has_device, self.number, self.frame = has_device, 0, 0
        self.host, self.device_us, self.device_events = Thread(PROCESS, START_US), 0, []

    def python(self, name, *inside):
        parent, self.frame = self.frame, self.frame + 1
        self.host.run("python_function", name,
                      f'"Python parent id": {parent}, "Python id": {self.frame}', *inside)

    def launch(self, name):
        host = self.host
        self.number += 1
        start_us = max(host.now_us + 3, self.device_us)
        self.device_us = start_us + 5 + self.number % 7
        if self.has_device:
            host.run("cuda_runtime", "cudaLaunchKernel",
                     f'"External id": {self.number}, "cbid": 211, "correlation": {self.number}')
            self.device_events.append(kernel(name, start_us, self.device_us - start_us, self.number))

    def allocate(self):
        self.host.events.append(
            f'{{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": {PROCESS}, '
            f'"tid": {PROCESS}, "ts": {self.host.now_us}.000, "args": {{"Total Reserved": 64424509440, '
            f'"Total Allocated": {4096 * (self.number % 100)}, "Bytes": {4096 if self.number % 2 else -4096}'
            f', "Addr": {139637976727552 + 4096 * (self.number // 2)}, "Device Id": 0, "Device Type": '
            f'{int(self.has_device)}}}}}')

    def operator(self, name, kernel_name, *inside):
        width = self.WIDTHS[self.number % 3]
        self.host.run("cpu_op", name, f'"External id": {self.number}, "Sequence number": {self.number}, '
                      f'"Fwd thread id": 0, "Ev Idx": {self.number}, '
                      '"Input type": ["c10::BFloat16", "c10::BFloat16"], '
                      f'"Input Dims": [[{width}, 64], [64, {width}]], "Concrete Inputs": ["", ""]',
                      *inside, lambda: self.launch(kernel_name), self.allocate)

    def linear(self, number):
        self.python(f"nn.Module: Linear_{number}", lambda: self.python(
            "torch/nn/modules/linear.py(116): forward", lambda: self.python(
                "<built-in function linear>", lambda: self.operator(
                    "aten::linear", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
                    lambda: self.operator("aten::addmm", "void cublasLt::splitKreduce_kernel<32, 16>")))))

    def norm(self, number):
        self.python(f"nn.Module: LayerNorm_{number}", lambda: self.operator(
            "aten::layer_norm", "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel"
            "<c10::BFloat16, float>(int, float, c10::BFloat16 const*)"))

    def block(self, number):
        self.python(f"nn.Module: Block_{number}", lambda: self.norm(number),
                    lambda: self.linear(2 * number), lambda: self.linear(2 * number + 1))

    def step(self, number):
        self.host.run("user_annotation", f"ProfilerStep#{number}", "", lambda: self.python(
            "train.py(88): train_step", *(lambda block=block: self.block(block) for block in range(24)),
            lambda: self.operator("Optimizer.step#AdamW.step",
                                  "void at::native::multi_tensor_apply_kernel<FusedAdam>")))
        yield from self.host.events
        yield from self.device_events
        self.host.events, self.device_events = [], []


def training(count, has_device=True):
    work, written = Training(has_device), 0
    for number in itertools.count():
        for event in work.step(number):
            yield event
            written += 1
        if written >= count:
            return


def host_training(count):
    """No device, as of torch.profiler where there is none."""
    return training(count, has_device=False)


def distinct_operators(count):
    for number in range(count):
        yield operator(f"aten::operator_{number}", START_US + 10 * number, 5)


def distinct_kernels(count):
    for number in range(count // 2):
        yield from pair(number, f"kernel_{number}")


def distinct_annotations(count):
    for number in range(count):
        yield span("user_annotation", f"phase {number}", START_US + 10 * number, 5)


def distinct_categories(count):
    for number in range(count):
        yield span(f"category {number}", "thing", START_US + 10 * number, 5)


def distinct_processes(count):
    for number in range(count):
        yield operator("aten::add", START_US + number, 5, pid=10000 + number)


def threads(count):
    for number in range(count):
        yield operator("aten::add", START_US + number, 5, tid=10000 + number)


def named_threads(count):
    for number in range(count // 2):
        tid = 10000 + number
        yield (f'{{"name": "thread_name", "ph": "M", "ts": 0.000, "pid": {PROCESS}, "tid": {tid},'
               f' "args": {{"name": "worker {number}"}}}}')
        yield operator("aten::add", START_US + number, 5, tid=tid)


def threads_with_launches(count):
    for number in range(count // 2):
        launched, computed = pair(number)
        yield launched.replace(f'"tid": {PROCESS}', f'"tid": {10000 + number}')
        yield computed


def nested_operators(count):
    for number in range(count):
        yield operator("aten::add", START_US + number, 2 * (count - number))


def nested_names(count):
    for number in range(count):
        yield operator(f"aten::layer_{number}", START_US + number, 2 * (count - number))


def nested_annotations(count):
    for number in range(count):
        yield span("user_annotation", f"phase {number % 10}", START_US + number,
                   2 * (count - number))


def nested_python(count):
    for number in range(count):
        yield span("python_function", f"train.py({number}): step", START_US + number,
                   2 * (count - number),
                   args=f'"Python parent id": {number}, "Python id": {number + 1}')


def nested_launches(count):
    """Each launch has as many operators around it as came before."""
    for number in range(count // 3):
        yield operator("aten::add", START_US + 10 * number, 20 * (count - number))
        yield from pair(number)


def unclosed_begins(count):
    for number in range(count):
        yield (f'{{"ph": "B", "cat": "cpu_op", "name": "aten::add", "pid": {PROCESS}, '
               f'"tid": {PROCESS}, "ts": {START_US + number}.000}}')


def begins_and_ends(count):
    half = count // 2
    for number in range(count):
        yield (f'{{"ph": "{"B" if number < half else "E"}", "cat": "cpu_op", "name": "aten::add", '
               f'"pid": {PROCESS}, "tid": {PROCESS}, "ts": {START_US + number}.000}}')


def unopened_ends(count):
    for number in range(count):
        yield (f'{{"ph": "E", "pid": {PROCESS}, "tid": {PROCESS}, '
               f'"ts": {START_US + number}.000}}')


def open_asyncs(count):
    half = count // 2
    for number in range(count):
        yield (f'{{"ph": "{"b" if number < half else "e"}", "cat": "async", "name": "task", '
               f'"id": {number % half}, "pid": {PROCESS}, "tid": {PROCESS}, '
               f'"ts": {START_US + number}.000}}')


def one_instant(count):
    for number in range(count // 3):
        yield operator(f"aten::op{number % 50}", START_US, 6)
        yield launch(START_US, number)
        yield kernel(f"kernel{number % 20}", START_US, 5, number)


def one_instant_no_duration(count):
    for number in range(count // 3):
        yield operator(f"aten::op{number % 50}", START_US, 0)
        yield launch(START_US, number)
        yield kernel(f"kernel{number % 20}", START_US, 0, number)


def one_instant_steps(count):
    for number in range(count):
        yield span("user_annotation", f"ProfilerStep#{number}", START_US, 100)


def equal_correlations(count):
    for number in range(count // 2):
        yield from pair(number, correlation=1)


def equal_correlations_of_kernels(count):
    yield launch(START_US, 1)
    for number in range(count):
        yield kernel("gemm", START_US + 10 * number, 5, 1)


def equal_correlations_of_launches(count):
    for number in range(count):
        yield launch(START_US + 10 * number, 1)
    yield kernel("gemm", START_US, 5, 1)


def correlations_of_high_bits(count):
    for number in range(count // 2):
        yield from pair(number, correlation=number << 32)


def equal_operator_ids(count):
    for number in range(count // 3):
        start_us = START_US + 10 * number
        yield span("cpu_op", "aten::add", start_us, 6, args='"External id": 1')
        yield launch(start_us + 1, number, operator_id=1)
        yield kernel("gemm", start_us + 4, 5, number)


def equal_sequence_numbers(count):
    half = count // 2
    for number in range(count):
        is_forward = number < half
        yield span("cpu_op", "aten::mm" if is_forward else "MmBackward0", START_US + 10 * number,
                   5, tid=PROCESS + (not is_forward),
                   args=f'"Sequence number": 1, "Fwd thread id": {0 if is_forward else 1}')


def equal_flows(count):
    half = count // 2
    for number in range(half):
        start_us = START_US + 10 * number
        yield operator("aten::add", start_us, 5)
        yield (f'{{"ph": "{"s" if number < half // 2 else "f"}", "id": 1, "pid": {PROCESS}, '
               f'"tid": {PROCESS}, "ts": {start_us}.000, "cat": "fwdbwd", "name": "fwdbwd", '
               '"bp": "e"}')


def backward(shape):
    """The same events, the last first."""
    def reversed_shape(count):
        return reversed(list(shape(count)))
    reversed_shape.__doc__ = "The last event first."
    return reversed_shape


def shuffled(count):
    events = list(usual(count))
    random.Random(1).shuffle(events)
    return events


def crossing_operators(count):
    """Operators of one thread that overlap and do not nest."""
    for number in range(count):
        yield operator("aten::add", START_US + number, 1000 + count // 2)


def crossing_kernels(count):
    """Every second kernel runs until after the end of the next hundred thousand."""
    for number in range(count // 2):
        start_us = START_US + 10 * number
        yield launch(start_us, number)
        yield kernel("gemm", start_us + 4, 1000000, number, stream=7 + number % 32)


def late_kernels(count):
    """All is launched before the first kernel starts: the queue grows as long as the trace."""
    half = count // 2
    for number in range(half):
        yield launch(START_US + 3 * number, number)
    for number in range(half):
        yield kernel("gemm", START_US + 3 * half + 6 * number, 5, number)


def streams(count):
    for number in range(count // 2):
        yield from pair(number, stream=7 + number)


def devices(count):
    for number in range(count // 2):
        yield from pair(number, device=number)


def streams_of_devices(count):
    for number in range(count // 2):
        yield from pair(number, device=number % 8, stream=7 + number // 8)


def steps(count):
    """Very many steps, each with one launch and one kernel."""
    for number in range(count // 3):
        start_us = START_US + 10 * number
        yield span("user_annotation", f"ProfilerStep#{number}", start_us, 10)
        yield from pair(number)


def equal_steps(count):
    for number in range(count // 3):
        start_us = START_US + 10 * number
        yield span("user_annotation", "ProfilerStep#1", start_us, 10)
        yield from pair(number)


def nested_steps(count):
    for number in range(count):
        yield span("user_annotation", f"ProfilerStep#{number}", START_US + number,
                   2 * (count - number))


def distinct_inputs(count):
    for number in range(count // 3):
        start_us = START_US + 10 * number
        dims = f'"Input Dims": [[{number + 1}, 64], [64, {number % 4096 + 1}]]'
        yield span("cpu_op", "aten::mm", start_us, 6,
                   args=f'"External id": {number + 1}, "Input type": ["float", "float"], {dims}')
        yield launch(start_us + 1, number, operator_id=number + 1)
        yield kernel("sm90_xmma_gemm", start_us + 4, 5, number)


def long_name(count):
    for number in range(count // 2):
        yield from pair(number, LONG_NAME)


def long_names(count):
    """Kernels with names of their own, of which the first 4000 bytes are the same."""
    for number in range(count // 2):
        yield from pair(number, f"{LONG_NAME}<{number}>")


def allocations(count):
    """Every block stays."""
    for number in range(count):
        yield (f'{{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", '
               f'"pid": {PROCESS}, "tid": {PROCESS}, "ts": {START_US + number}.000, '
               f'"args": {{"Total Reserved": 64424509440, "Total Allocated": {512 * number}, '
               f'"Bytes": 512, "Addr": {139637976727552 + 512 * number}, "Device Id": 0, '
               '"Device Type": 1}}')


def waits(count):
    """Host waits for the device after each launch."""
    for number in range(count // 3):
        start_us = START_US + 20 * number
        yield launch(start_us, 2 * number)
        yield kernel("gemm", start_us + 4, 8, 2 * number)
        yield span("cuda_runtime", "cudaDeviceSynchronize", start_us + 3, 12,
                   args=f'"cbid": 165, "correlation": {2 * number + 1}')


def waits_of_many_streams(count):
    third = count // 3
    for number in range(third):
        yield from pair(number, stream=7 + number)
    for number in range(third):
        yield span("cuda_runtime", "cudaDeviceSynchronize", START_US + 10 * (third + number), 8,
                   args=f'"cbid": 165, "correlation": {third + number}')


def long_wait(count):
    """One wait of the host that is as long as the trace, and all kernels within it."""
    yield span("cuda_runtime", "cudaDeviceSynchronize", START_US, 10 * count, tid=PROCESS + 1,
               args=f'"cbid": 165, "correlation": {count}')
    for number in range(count // 2):
        yield from pair(number)


def collectives(count):
    for number in range(count // 2):
        start_us = START_US + 10 * number
        yield launch(start_us, number)
        yield span("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", start_us + 4, 5, pid=0,
                   tid=20, args=f'"device": 0, "stream": 20, "correlation": {number}, '
                   f'"Collective name": "allreduce", "In msg nelems": {number + 1}, '
                   f'"Group size": 8, "dtype": "BFloat16", "Process Group Name": "{number}", '
                   '"Process Group Ranks": [0, 1, 2, 3, 4, 5, 6, 7]')


def copies(count):
    for number in range(count // 2):
        start_us = START_US + 10 * number
        yield launch(start_us, number).replace("cudaLaunchKernel", "cudaMemcpyAsync")
        yield span("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", start_us + 4, 5, pid=0, tid=7,
                   args=f'"device": 0, "stream": 7, "correlation": {number}, '
                   f'"bytes": {number + 1}')


def loader_waits(count):
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    for number in range(count):
        yield span("user_annotation", name, START_US + 10 * number, 5)


def counters(count):
    for number in range(count):
        yield (f'{{"ph": "C", "name": "counter {number}", "pid": {PROCESS}, '
               f'"ts": {START_US + number}.000, "args": {{"value": {number}}}}}')


def device_annotations(count):
    half = count // 2
    for number in range(half):
        yield span("gpu_user_annotation", f"phase {number}", START_US + number,
                   20 * (half - number), pid=0, tid=7)
    for number in range(half // 2):
        yield from pair(number)


def distinct_keys(count):
    for number in range(count):
        yield span("cpu_op", "aten::add", START_US + 10 * number, 5, args=f'"key {number}": 1')


def distinct_layouts(count):
    """The members of every event are in another order."""
    members = [f'"cat": "cpu_op"', '"name": "aten::add"', f'"pid": {PROCESS}', f'"tid": {PROCESS}',
               '"ph": "X"', '"dur": 5.000', '"args": {"a": 1}']
    orders = itertools.cycle(itertools.permutations(members))
    for number in range(count):
        yield f'{{"ts": {START_US + 10 * number}.000, {", ".join(next(orders))}}}'


def one_large_event(count):
    """All of the trace in the args of one event."""
    yield span("cpu_op", "aten::add", START_US, 5,
               args=", ".join(f'"key {number}": [[{number}], {{"a": "b"}}]'
                              for number in range(count)))


def one_deep_event(count):
    yield span("cpu_op", "aten::add", START_US, 5, args='"deep": ' + "[" * count + "]" * count)


def escaped_names(count):
    for number in range(count):
        yield operator("aten::\\u0061\\\"dd\\\\" * 20 + str(number % 10), START_US + 10 * number, 5)


def broken_events(count):
    for number in range(count):
        yield f'{{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": {START_US + number}.0, "d'


def random_kinds(count):
    """Words of the usual traces put together at random, in times that overlap at random."""
    chance = random.Random(2)
    kinds = [("cpu_op", "aten::mm"), ("cuda_runtime", "cudaLaunchKernel"), ("kernel", "gemm"),
             ("cuda_runtime", "cudaStreamSynchronize"), ("gpu_memcpy", "Memcpy DtoH"),
             ("user_annotation", "ProfilerStep#1"), ("kernel", "ncclDevKernel_AllReduce"),
             ("python_function", "threading.py(1): wait"), ("gpu_user_annotation", "phase")]
    for number in range(count):
        category, name = chance.choice(kinds)
        yield span(category, name, START_US + chance.randrange(10 * count),
                   chance.randrange(1000), pid=chance.choice((0, PROCESS)),
                   tid=chance.randrange(20),
                   args=f'"correlation": {chance.randrange(count)}, "stream": 7, "device": 0')


SHAPES = {function.__name__.replace("_", "-"): function for function in (
    usual, training, host_training, distinct_operators, distinct_kernels, distinct_annotations, distinct_categories,
    distinct_processes, threads, named_threads, threads_with_launches, nested_operators,
    nested_names, nested_annotations, nested_python, nested_launches, unclosed_begins,
    begins_and_ends, unopened_ends, open_asyncs, one_instant, one_instant_no_duration,
    one_instant_steps, equal_correlations, equal_correlations_of_kernels,
    equal_correlations_of_launches, correlations_of_high_bits, equal_operator_ids,
    equal_sequence_numbers, equal_flows, shuffled, crossing_operators, crossing_kernels,
    late_kernels, streams, devices, streams_of_devices, steps, equal_steps, nested_steps,
    distinct_inputs, long_name, long_names, allocations, waits, waits_of_many_streams, long_wait,
    collectives, copies, loader_waits, counters, device_annotations, distinct_keys,
    distinct_layouts, one_large_event, one_deep_event, escaped_names, broken_events, random_kinds)}
SHAPES["backward"] = backward(usual)
SHAPES["nested-backward"] = backward(nested_operators)
SHAPES["streams-backward"] = backward(streams)


def main():
    shape, count, path = sys.argv[1:]
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD)
        separator = ""
        for event in SHAPES[shape](int(count)):
            file.write(separator + event)
            separator = ",\n"
        file.write(TAIL)


if __name__ == "__main__":
    main()
