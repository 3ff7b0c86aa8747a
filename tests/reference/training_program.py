# SPDX-License-Identifier: MIT
"""What a training job asks of the allocator, as a list of operations that does not depend on the
allocator's answers, so that the same job can be run under other settings. The same plan gives the
same operations, and more steps only add to them: two step counts are two moments of one run.

Operations, each with the device's number first:
  ("alloc", device, id, bytes, stream, stack, tag)      ("free", device, id, stack)
  ("use", device, id, stream, delay_us)                 ("empty_cache", device, stack)
  ("capture", device, pool id or None)                  ("record", level)
  ("tick", us)   ("snapshot",)   ("annotate", name, stage)   ("mark", name)
"""
import random

from cuda_allocator import ALL, KIB, MIB

SITE_PACKAGES = "/usr/lib/python3.11/site-packages/"
USER = "/home/user/project/"
MODULE = SITE_PACKAGES + "torch/nn/modules/module.py"
COPY_STREAM, SIDE_STREAM = 0x7f3a54002b40, 0x55d0c8a1f7e0

# name, file, line: what PyTorch itself leaves on a stack, innermost first.
CPP_ALLOCATION = (
    ("torch::unwind::unwind()", "??", 0),
    ("torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0),
    ("torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp", 0),
    ("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, "
     "CUstream_st*)", "CUDACachingAllocator.cpp", 0),
    ("c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::allocate(unsigned long)", "",
     0),
    ("at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*, c10::DispatchKeySet)", "??",
     0),
    ("at::(anonymous namespace)::create_out(c10::ArrayRef<long>, c10::TensorOptions const&)",
     "RegisterCUDA_0.cpp", 0),
)
CPP_MAIN = (("_PyEval_EvalFrameDefault", "??", 0), ("PyRun_FileExFlags", "pythonrun.c", 1640),
            ("__libc_start_main", "??", 0))
CPP_BACKWARD = (
    ("torch::autograd::generated::{}Backward0::apply(std::vector<at::Tensor>&&)", "??", 0),
    ("torch::autograd::Node::operator()(std::vector<at::Tensor>&&)", "", 0),
    ("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)",
     "??", 0),
    ("__clone", "??", 0),
)
CALL_IMPL = (("_call_impl", MODULE, 1790), ("_wrapped_call_impl", MODULE, 1779))


def user(line, name, file="train.py"):
    return (name, USER + file, line)


def library(line, name, file):
    return (name, SITE_PACKAGES + file, line)


class Stacks:
    """Stacks of the job, each built once."""

    def __init__(self, has_cpp, depth):
        self.has_cpp, self.depth, self.made = has_cpp, depth, {}

    def get(self, *key):
        if key not in self.made:
            self.made[key] = getattr(self, key[0])(*key[1:])
        return self.made[key]

    def whole(self, frames):
        """With C++ frames around, and as deep as asked for."""
        frames = (CPP_ALLOCATION if self.has_cpp else ()) + tuple(frames)
        line = 1000 + 200 * len(self.made)  # other lines for each stack: many distinct frames
        padding = tuple(user(line + i, f"wrapper_{i}", "launcher.py")
                        for i in range(max(0, self.depth - len(frames))))
        return frames + padding + (CPP_MAIN if self.has_cpp else ())

    def parameter(self, layer, what):
        file = "model.py"
        return self.whole((library(109, "__init__", "torch/nn/modules/linear.py"),
                           user(20 + len(what), "__init__", file),
                           user(88, "build_layers" if layer is not None else "__init__", file),
                           user(12, "main")))

    def forward(self, layer, what):
        inner = {"attention": (library(5471, "scaled_dot_product_attention",
                                       "torch/nn/functional.py"),
                               user(61, "forward", "attention.py")),
                 "linear": (library(125, "forward", "torch/nn/modules/linear.py"),
                            *CALL_IMPL, user(74, "forward", "mlp.py")),
                 "norm": (library(217, "forward", "torch/nn/modules/normalization.py"),
                          *CALL_IMPL, user(77, "forward", "mlp.py")),
                 "loss": (library(3479, "cross_entropy", "torch/nn/functional.py"),
                          user(103, "loss", "model.py"))}[what]
        return self.whole((*inner, *CALL_IMPL, user(95, "forward", "model.py"), *CALL_IMPL,
                           user(33, "train_step"), user(52, "main")))

    def backward(self, layer, what):
        name = {"attention": "ScaledDotProductEfficientAttention", "linear": "Addmm",
                "norm": "NativeLayerNorm", "loss": "NllLoss"}[what]
        if self.has_cpp:  # the engine's own thread: no Python frame at all
            first = (CPP_BACKWARD[0][0].format(name),) + CPP_BACKWARD[0][1:]
            if what == "norm":  # between two nodes
                first = ("at::_ops::sum_dim_IntList::call(at::Tensor const&)", "??", 0)
            return CPP_ALLOCATION + (first,) + CPP_BACKWARD[1:]
        return self.whole((library(824, "_engine_run_backward", "torch/autograd/graph.py"),
                           library(581, "backward", "torch/_tensor.py"),
                           user(35, "train_step"), user(52, "main")))

    def optimizer(self, what):
        line = {"state": 169, "foreach": 412}[what]
        return self.whole((library(line, what, "torch/optim/adamw.py"),
                           library(493, "wrapper", "torch/optim/optimizer.py"),
                           user(38, "train_step"), user(52, "main")))

    def data(self):
        return self.whole((user(14, "__next__", "data.py"), user(30, "train_step"),
                           user(52, "main")))

    def leak(self):
        return self.whole((user(40, "train_step"), user(52, "main")))

    def gather(self):
        return self.whole((library(3012, "all_gather_into_tensor",
                                   "torch/distributed/distributed_c10d.py"),
                           user(31, "prefetch", "sharding.py"), user(33, "train_step"),
                           user(52, "main")))

    def graph(self):
        return self.whole((library(84, "capture_begin", "torch/cuda/graphs.py"),
                           user(71, "warm_up"), user(50, "main")))

    def puzzle(self, what):
        return self.whole((user({"keep": 5, "drop": 6, "big": 9}[what], "resize", "buffers.py"),
                           user(57, "main")))

    def interactive(self):
        """Neither a file of Python nor of torch."""
        return (("<module>", "<ipython-input-7-3f2a>", 3),)

    def free(self, where):
        return self.whole((user({"train": 36, "zero": 37, "main": 60}[where], "train_step"),
                           user(52, "main")))


def make_plan(seed):
    """A random job, small enough to be replayed slowly."""
    rng = random.Random(seed)
    return {
        "seed": seed, "steps": rng.choice((1, 2, 3, 5, 8)), "devices": rng.choice((1, 1, 1, 2, 3)),
        "layers": rng.choice((1, 2, 4)), "hidden": rng.choice((64, 256, 1024, 2048)),
        "tokens": rng.choice((96, 512, 4096)), "vocabulary": rng.choice((1000, 32000)),
        "varies": rng.random() < 0.5, "has_cpp": rng.random() < 0.3,
        "depth": rng.choice((0, 0, 12)),
        "leak": rng.choice((0, 0, 1000, 3 * MIB)), "spike": rng.choice((0, 0, 200 * MIB)),
        "streams": rng.random() < 0.5, "graphs": rng.random() < 0.25,
        "eval_every": rng.choice((0, 2)),
        "empty_cache_every": rng.choice((0, 0, 2)), "level": rng.choice((ALL, ALL, 2, 1)),
        "record_at": rng.choice(("start", "start", "model", "step")),
        "oom": rng.choice(("none", "none", "fragmentation", "capacity", "retry")),
        "after_oom": rng.choice(("stop", "stop", "continue")),
        "capacity": rng.choice((4, 8)) << 30, "has_snapshots": rng.random() < 0.3,
        "is_expandable": rng.random() < 0.3, "max_split_mb": rng.choice((0, 0, 0, 32, 128)),
    }


class Job:
    """Yields the operations of one plan."""

    def __init__(self, plan):
        self.plan, self.rng = plan, random.Random(plan["seed"] * 7919 + 1)
        self.stacks = Stacks(plan["has_cpp"], plan["depth"])
        self.count = 0

    def alloc(self, device, size, key, tag, stream=0):
        """Returns (operations, id)."""
        self.count += 1
        return ("alloc", device, self.count, max(1, int(size)), stream, self.stacks.get(*key), tag)

    def free(self, device, number, where="train"):
        return ("free", device, number, self.stacks.get("free", where))

    def tick(self):
        return ("tick", self.rng.choice((0, 0, 1, 1, 3, 40)))

    def each_parameter(self):
        """layer, what it is for, bytes."""
        hidden = self.plan["hidden"]
        yield None, "embedding", self.plan["vocabulary"] * hidden * 4
        for layer in range(self.plan["layers"]):
            yield layer, "qkv", 3 * hidden * hidden * 4
            yield layer, "up", 4 * hidden * hidden * 4
            yield layer, "down", 4 * hidden * hidden * 4
            yield layer, "norm", hidden * 4

    def operations(self):
        plan, devices = self.plan, range(self.plan["devices"])
        if plan["record_at"] == "start":
            yield ("record", plan["level"])
        models = [[] for _ in devices]
        for device in devices:
            yield from self.build(device, models[device])
        if plan["record_at"] == "model":
            yield ("record", plan["level"])
        if plan["graphs"]:
            yield from self.capture_graph(0)
        states = [[] for _ in devices]
        for step in range(plan["steps"]):
            if plan["record_at"] == "step" and step == plan["steps"] // 2:
                yield ("record", plan["level"])
            yield ("annotate", "ProfilerStep", "START")
            for device in devices:
                yield from self.step(device, step, models[device], states[device])
            yield ("annotate", "ProfilerStep", "END")
            if plan["has_snapshots"] and step % 2:
                yield ("snapshot",)
        yield from self.ending()

    def build(self, device, model):
        for layer, what, size in self.each_parameter():
            op = self.alloc(device, size, ("parameter", layer, what), "parameter")
            model.append((op[2], layer, what, op[3]))
            yield op
            yield self.tick()

    def step(self, device, step, model, state):
        plan = self.plan
        tokens = plan["tokens"] * (self.rng.uniform(0.3, 1.7) if plan["varies"] else 1)
        yield from self.load_batch(device, tokens)
        saved = []
        for layer in range(plan["layers"]):
            yield from self.forward_layer(device, layer, tokens, saved)
        if plan["leak"]:
            yield self.alloc(device, plan["leak"], ("leak",), "leak")
        if plan["eval_every"] and step % plan["eval_every"] == 0:
            yield from self.evaluate(device, tokens)
        yield from self.loss(device, tokens, saved)
        gradients = []
        for _, layer, _, size in reversed(model):
            yield from self.backward_part(device, layer, size, saved, gradients)
        for number in reversed(saved):
            yield self.free(device, number)
        yield from self.optimize(device, step, model, state)
        for number in gradients:
            yield self.free(device, number, "zero")
        if plan["empty_cache_every"] and step % plan["empty_cache_every"] == 1:
            yield ("empty_cache", device, self.stacks.get("free", "main"))

    def load_batch(self, device, tokens):
        """Copied on one stream, used on another: freed late."""
        stream = COPY_STREAM if self.plan["streams"] else 0
        op = self.alloc(device, tokens * 8, ("data",), "input", stream)
        yield op
        if stream:
            yield ("use", device, op[2], 0, self.rng.choice((5, 200, 3000)))
        yield self.free(device, op[2])
        yield self.tick()

    def forward_layer(self, device, layer, tokens, saved):
        hidden = self.plan["hidden"]
        for what, size in (("norm", tokens * hidden * 4), ("attention", tokens * 8 * 64 * 2),
                           ("attention", 3 * tokens * hidden * 2), ("norm", tokens * 4),
                           ("linear", 4 * tokens * hidden * 2)):
            op = self.alloc(device, size, ("forward", layer, what), "activation")
            saved.append(op[2])
            yield op
            yield self.tick()
            spare = self.alloc(device, size * self.rng.choice((0.5, 1, 2)),
                               ("forward", layer, what), "temporary")
            yield spare
            yield self.free(device, spare[2])
        if self.plan["streams"]:
            yield from self.gather_shard(device, hidden)

    def gather_shard(self, device, hidden):
        op = self.alloc(device, 8 * hidden * hidden, ("gather",), "communication", SIDE_STREAM)
        yield op
        yield ("use", device, op[2], 0, self.rng.choice((50, 900)))
        if self.rng.random() < 0.5:
            yield ("use", device, op[2], COPY_STREAM, 10)
        yield self.free(device, op[2])

    def loss(self, device, tokens, saved):
        for factor in (4, 4, 2):
            op = self.alloc(device, tokens * self.plan["vocabulary"] * factor // 16,
                            ("forward", None, "loss"), "activation")
            saved.append(op[2])
            yield op
        if self.plan["spike"]:
            op = self.alloc(device, self.plan["spike"] + self.rng.randrange(MIB),
                            ("forward", None, "loss"), "temporary")
            yield op
            yield self.tick()
            yield self.free(device, op[2])

    def backward_part(self, device, layer, size, saved, gradients):
        what = self.rng.choice(("linear", "attention", "norm"))
        op = self.alloc(device, size, ("backward", layer, what), "gradient")
        gradients.append(op[2])
        yield op
        spare = self.alloc(device, size // 2, ("backward", layer, what), "temporary")
        yield spare
        yield self.tick()
        yield self.free(device, spare[2])
        if saved and self.rng.random() < 0.7:
            yield self.free(device, saved.pop(self.rng.randrange(len(saved))))

    def optimize(self, device, step, model, state):
        for _, _, _, size in model:
            if step == 0:
                for _ in range(2):
                    op = self.alloc(device, size, ("optimizer", "state"), "optimizer state")
                    state.append(op[2])
                    yield op
            spare = self.alloc(device, size, ("optimizer", "foreach"), "temporary")
            yield spare
            yield self.tick()
            yield self.free(device, spare[2])

    def evaluate(self, device, tokens):
        ops = [self.alloc(device, tokens * 1000 + i * KIB, ("interactive",), "temporary")
               for i in range(3)]
        yield from ops
        for op in ops:
            yield self.free(device, op[2], "main")

    def capture_graph(self, device):
        yield ("capture", device, (0, 1))
        ops = [self.alloc(device, size, ("graph",), "graph")
               for size in (3 * MIB, 700 * KIB, 12 * MIB, 2 * MIB)]
        yield from ops
        if self.plan["streams"]:
            yield ("use", device, ops[1][2], SIDE_STREAM, 20)
        for op in ops[1:3]:
            yield self.free(device, op[2], "main")
        yield ("capture", device, None)

    def ending(self):
        """How the job dies, if it does; and what one that lives on gives back."""
        yield ("mark", "ending")
        if self.plan["oom"] == "fragmentation":
            yield from self.fragment(0)
        elif self.plan["oom"] == "capacity":
            ops = [self.alloc(0, self.plan["capacity"] // 16 + self.rng.randrange(MIB),
                              ("forward", None, "loss"), "activation") for _ in range(20)]
            for op in ops:  # more than there is
                yield op
                yield self.tick()
            for op in ops[::3]:
                yield self.free(0, op[2], "main")
            if self.rng.random() < 0.5:
                yield ("empty_cache", 0, self.stacks.get("free", "main"))
        elif self.plan["oom"] == "retry":
            yield from self.retry(0)

    def fragment(self, device):
        """Segments cut into kept and freed pieces, and then a piece larger than any hole."""
        capacity, rng, keep = self.plan["capacity"], self.rng, 12 * MIB
        hole = rng.choice((8, 30, 60, 130)) * MIB
        room = capacity - 4 * sum(size for _, _, size in self.each_parameter())
        segments = int(0.9 * room / (6 * (hole + keep)))
        drops = []
        for _ in range(segments):
            big = self.alloc(device, (hole + keep) * 6, ("puzzle", "big"), "temporary")
            yield big
            yield self.free(device, big[2], "main")
            for _ in range(6):
                yield self.alloc(device, keep, ("puzzle", "keep"), "buffer")
                drops.append(self.alloc(device, hole, ("puzzle", "drop"), "temporary"))
                yield drops[-1]
            yield self.tick()
        for op in drops:
            yield self.free(device, op[2], "main")
        # More than the device has left, by a share of what the holes hold together.
        left = room - segments * 6 * (hole + keep)
        yield self.alloc(device, left + segments * 6 * hole * rng.choice((0.1, 0.3, 0.6, 0.9)),
                         ("puzzle", "big"), "buffer")
        yield self.tick()
        yield self.alloc(device, 5000, ("puzzle", "big"), "buffer")

    def retry(self, device):
        """Fills the cache, then asks for another size: the cache is given back and asked anew."""
        size = self.plan["capacity"] // 24
        for factor in (1.0, 1.3, 0.8, 1.6):
            ops = [self.alloc(device, size * factor, ("puzzle", "drop"), "temporary")
                   for _ in range(12)]
            yield from ops
            for op in ops:
                yield self.free(device, op[2], "main")
            yield self.tick()
