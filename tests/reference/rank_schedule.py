# SPDX-License-Identifier: MIT
"""What each rank of a training job does in a step, in the order in which its host does it: kernels,
collectives, and where the device waits for a collective. Times are those of a quiet machine.

Ranks are numbered as Megatron does: (stage * data-parallel size + replica) * tensor-parallel size.
"""
import dataclasses
import random

from kineto_rank import Group, collective_args

US = 1_000
ELEMENT = 2  # bytes: all is bfloat16
LATENCY_NS = 15 * US
# Bytes a second that a link of a kind of group carries.
BANDWIDTH = {"default_pg": 40e9, "TENSOR_PARALLEL": 150e9, "DATA_PARALLEL": 40e9,
             "PIPELINE": 25e9, "EXPERT_PARALLEL": 60e9, "SHARD": 100e9, "REPLICATE": 40e9}
PLANS = ("dp", "tp", "fsdp", "hsdp", "pp", "interleaved", "ep")

ACTIVATION = 1_000_000  # elements that go from stage to stage
TOKENS = 2_000_000  # elements that a rank sends to an expert

GEMM = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT"
WEIGHT_GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize256x128x64_cublas"
# Operator, kernel, ns, blocks.
FORWARD = (
    ("aten::layer_norm", "vectorized_layer_norm_kernel", 40 * US, 4096),
    ("aten::addmm", GEMM, 260 * US, 1056),
    ("aten::_flash_attention_forward", "flash_fwd_kernel", 180 * US, 2048),
    ("aten::addmm", GEMM, 220 * US, 1056),
)
BACKWARD = (
    ("aten::mm", GEMM, 430 * US, 1056),
    ("aten::mm", WEIGHT_GEMM, 450 * US, 1056),
    ("aten::_flash_attention_backward", "flash_bwd_kernel", 390 * US, 2048),
    ("aten::native_layer_norm_backward", "layer_norm_grad_input_kernel", 60 * US, 4096),
)
EXPERTS = ("aten::_grouped_mm", "cutlass_grouped_gemm_kernel", 500 * US, 2112)
OPTIMIZER = ("aten::_fused_adamw_", "multi_tensor_apply_kernel", 250 * US, 2640)
LOSS = ("aten::nll_loss_forward", "nll_loss_forward_reduce_kernel", 30 * US, 512)


@dataclasses.dataclass(frozen=True)
class Kernel:
    operator: str
    name: str
    ns: int
    blocks: int
    is_backward: bool = False


@dataclasses.dataclass(frozen=True)
class Transfer:
    """This rank's part in a collective; key is equal on all members, and different in each call of
    a step."""
    key: tuple
    group: Group
    name: str  # as in "Collective name"
    sent: int  # elements
    received: int
    wire_bytes: int  # what the slowest link carries
    splits: tuple = ()  # elements sent to, received from each member
    source: int = -1  # of a send or receive
    after: tuple = ()  # key of one that must have ended on this rank
    way: str = ""  # forward, backward: sends and receives have a stream for each

    def is_point_to_point(self):
        return self.source >= 0

    def is_synchronising(self):
        """Do all members end together?"""
        return not self.is_point_to_point() and self.name != "broadcast"

    def key_in_group(self):
        return self.group.name, self.key

    def stream_key(self):
        """Transfers of equal stream on a rank come one after the other."""
        return self.group.name, self.way, self.name if self.is_point_to_point() else ""

    def nominal_ns(self):
        return LATENCY_NS + round(1e9 * self.wire_bytes / BANDWIDTH[self.group.description])

    def args(self):
        more = {}
        if self.splits:
            more["In split size"], more["Out split size"] = map(str, self.splits)
        if self.is_point_to_point():
            more["Src Rank"] = self.source
            more["Dst Rank"] = sum(self.group.ranks) - self.source
        return collective_args(self.name, self.group, self.sent, self.received, **more)


@dataclasses.dataclass(frozen=True)
class Wait:
    """The device goes on when this collective has ended."""
    key: tuple


@dataclasses.dataclass
class Job:
    """Sizes of a job."""
    plan: str = "dp"
    ranks: int = 8
    tensor: int = 1
    stages: int = 1
    microbatches: int = 8
    chunks: int = 1
    layers: int = 3
    buckets: int = 8
    overlap: float = 0.5
    comm_fraction: float = 0.25  # data-parallel transfer by compute
    expert_skew: float = 0  # how much more than the others the first expert gets
    has_buffers: bool = False  # which the first rank broadcasts before each step
    seed: int = 1

    def __post_init__(self):
        self.replicas = self.ranks // (self.tensor * self.stages)
        if self.replicas * self.tensor * self.stages != self.ranks:
            raise ValueError("ranks do not divide into stages and tensor-parallel groups")
        self.world = Group("0", "default_pg", range(self.ranks))

    def place(self, rank):
        """Stage, replica, place in the tensor-parallel group."""
        rest, shard = divmod(rank, self.tensor)
        return (*divmod(rest, self.replicas), shard)

    def rank_at(self, stage, replica, shard):
        return (stage % self.stages * self.replicas + replica) * self.tensor + shard

    def tensor_group(self, rank):
        stage, replica, _ = self.place(rank)
        first = self.rank_at(stage, replica, 0)
        return Group(f"tp{first}", "TENSOR_PARALLEL", range(first, first + self.tensor))

    def data_group(self, rank):
        if self.replicas == self.ranks:
            return self.world
        stage, _, shard = self.place(rank)
        ranks = [self.rank_at(stage, replica, shard) for replica in range(self.replicas)]
        return Group(f"dp{ranks[0]}", "DATA_PARALLEL", ranks)

    def expert_group(self, rank):
        first = rank // 4 * 4
        return Group(f"ep{first}", "EXPERT_PARALLEL", range(first, min(first + 4, self.ranks)))

    def shard_group(self, rank):
        """Of hybrid sharding: four neighbours; else all replicas."""
        if self.plan != "hsdp":
            return self.data_group(rank)
        first = rank // 4 * 4
        return Group(f"shard{first}", "SHARD", range(first, first + 4))

    def replicate_group(self, rank):
        return Group(f"replicate{rank % 4}", "REPLICATE", range(rank % 4, self.ranks, 4))

    def pair(self, one, other):
        pair = sorted((one, other))
        return Group(f"pp{pair[0]}_{pair[1]}", "PIPELINE", pair)


def ring_bytes(elements, size, factor):
    return round(factor * (size - 1) / size * elements * ELEMENT)


def all_reduce(key, group, elements):
    return Transfer(key, group, "allreduce", elements, elements,
                    ring_bytes(elements, len(group.ranks), 2))


def kernels(rows, is_backward=False):
    return [Kernel(*row, is_backward) for row in rows]


def compute_ns(items):
    return sum(item.ns for item in items if isinstance(item, Kernel))


# ---- data, tensor and expert parallel: layers, and buckets of gradients ----

def tensor_reductions(job, rank, key):
    """The tensor-parallel all-reduce in a layer, for which the next kernel waits."""
    if job.tensor == 1:
        return []
    return [all_reduce(key, job.tensor_group(rank), 8_388_608), Wait(key)]


def expert_exchange(job, rank, key, is_back):
    """Tokens go to their experts, or come back. Who gets how many differs in each step."""
    group = job.expert_group(rank)
    size, me = len(group.ranks), group.ranks.index(rank)
    tokens = [[0] * size for _ in range(size)]
    rng = random.Random(f"{job.seed}/{key[:-1]}/{group.name}")
    for sender in range(size):
        for expert in range(size):
            weight = 1 + (job.expert_skew if expert == 0 else 0)
            tokens[sender][expert] = round(TOKENS * weight * rng.lognormvariate(0, 0.08))
    if is_back:
        tokens = [list(row) for row in zip(*tokens)]
    sent, received = tokens[me], [row[me] for row in tokens]
    most = max(max(sum(row) for row in tokens), max(sum(column) for column in zip(*tokens)))
    return Transfer(key, group, "all_to_allv", sum(sent), sum(received), most * ELEMENT,
                    (sent, received))


def expert_layer(job, rank, step, layer, is_backward):
    """Attention, tokens to the experts, the experts' work as many as came, and back."""
    rows = BACKWARD if is_backward else FORWARD
    there, back = ((step, layer, is_backward, way) for way in ("there", "back"))
    dispatch = expert_exchange(job, rank, there, False)
    load = dispatch.received / (TOKENS * len(dispatch.group.ranks))
    operator, name, ns, blocks = EXPERTS
    ns *= 2 if is_backward else 1
    experts = Kernel(operator, name, round(ns * load), round(blocks * load), is_backward)
    return [*kernels(rows, is_backward), dispatch, Wait(there), experts,
            expert_exchange(job, rank, back, True), Wait(back)]


def layer_items(job, rank, step, layer, is_backward):
    if job.plan == "ep":
        return expert_layer(job, rank, step, layer, is_backward)
    *first, last = kernels(BACKWARD if is_backward else FORWARD, is_backward)
    return [*first, *tensor_reductions(job, rank, (step, layer, is_backward, "tp")), last]


def buckets(job, rank, step, total_ns):
    """All-reduces of gradients: they take a share of the compute, the first half of another."""
    group = job.data_group(rank)
    size = len(group.ranks)
    if size < 2 or job.buckets == 0:
        return []
    transfer_ns = job.comm_fraction * total_ns / (job.buckets - 0.5)
    wire = (transfer_ns - LATENCY_NS) * BANDWIDTH[group.description] / 1e9
    elements = max(1024, round(wire / ELEMENT / (2 * (size - 1) / size)))
    return [all_reduce((step, "bucket", number), group, elements // (1 if number else 2))
            for number in range(job.buckets)]


def spread(items, transfers, overlap):
    """Transfers among the items: the overlapped ones evenly, the others behind all."""
    hidden = round(overlap * len(transfers))
    places = [(number + 1) * len(items) // (hidden + 1) for number in range(hidden)]
    out, done = [], 0
    for place, item in enumerate(items, 1):
        out.append(item)
        while done < hidden and places[done] <= place:
            out.append(transfers[done])
            done += 1
    return out + transfers[done:]


def buffers(job, step):
    if not job.has_buffers:
        return []
    key = (step, "buffers")
    return [Transfer(key, job.world, "broadcast", 100_000, 100_000, 200_000), Wait(key)]


def layered_step(job, rank, step):
    forward = [item for layer in range(job.layers)
               for item in layer_items(job, rank, step, layer, False)] + kernels([LOSS])
    backward = [item for layer in range(job.layers)
                for item in layer_items(job, rank, step, layer, True)]
    nominal = job.layers * sum(row[2] for row in FORWARD + BACKWARD)
    reductions = buckets(job, rank, step, nominal)
    return (buffers(job, step) + forward + spread(backward, reductions, job.overlap) +
            [Wait(transfer.key) for transfer in reductions] + kernels([OPTIMIZER]))


# ---- fully sharded: parameters are gathered a layer ahead, gradients scattered. In hybrid
# sharding among neighbours, and what each gets is reduced among those of equal place ----

def shard_transfer(job, rank, key, name):
    group, elements = job.shard_group(rank), 12_000_000
    size = len(group.ranks)
    whole, part = elements // size * size, elements // size
    sent, received = (part, whole) if name == "_allgather_base" else (whole, part)
    return Transfer(key, group, name, sent, received, ring_bytes(whole, size, 1))


def scattered(job, rank, step, layer):
    """The gradients of a layer, and the key of the last transfer of them."""
    key = (step, "scatter", layer)
    scatter = shard_transfer(job, rank, key, "_reduce_scatter_base")
    if job.plan != "hsdp":
        return [scatter], key
    further = (step, "replicate", layer)
    reduction = all_reduce(further, job.replicate_group(rank), scatter.received)
    return [scatter, dataclasses.replace(reduction, after=key)], further


def sharded_step(job, rank, step):
    order = [(layer, False) for layer in range(job.layers)]
    order += [(layer, True) for layer in reversed(range(job.layers))]
    gathers = [shard_transfer(job, rank, (step, "gather", *at), "_allgather_base") for at in order]
    items, waits = [gathers[0]], []
    for number, (layer, is_backward) in enumerate(order):
        items += gathers[number + 1:number + 2]
        items.append(Wait(gathers[number].key))
        items += kernels(BACKWARD if is_backward else FORWARD, is_backward)
        if is_backward:
            transfers, last = scattered(job, rank, step, layer)
            items += transfers
            waits.append(Wait(last))
    return items + waits + kernels([OPTIMIZER])


# ---- pipelines: one forward, one backward ----

def point_to_point(job, rank, peer, is_send, key):
    return Transfer(key, job.pair(rank, peer), "send" if is_send else "recv", ACTIVATION,
                    ACTIVATION, ACTIVATION * ELEMENT, source=rank if is_send else peer, way=key[1])


def unit_items(job, rank, step, unit):
    """One microbatch in one chunk of a stage: receive, compute, send."""
    microbatch, chunk, is_backward = unit
    stage, replica, shard = job.place(rank)
    last = job.stages * job.chunks - 1
    depth = chunk * job.stages + stage
    way = "backward" if is_backward else "forward"
    items = []
    from_depth, to_depth = (depth + 1, depth - 1) if is_backward else (depth - 1, depth + 1)
    if 0 <= from_depth <= last:
        key = (step, way, microbatch, min(from_depth, depth))
        items += [point_to_point(job, rank, job.rank_at(from_depth, replica, shard), False, key),
                  Wait(key)]
    *first, final = kernels((BACKWARD if is_backward else FORWARD)[1:4], is_backward)
    reductions = tensor_reductions(job, rank, (step, way, microbatch, depth, "tp"))
    items += [*first, *reductions, final]
    if 0 <= to_depth <= last:
        key = (step, way, microbatch, min(to_depth, depth))
        items.append(point_to_point(job, rank, job.rank_at(to_depth, replica, shard), True, key))
    return items


def order_of(job, number, is_backward):
    """The microbatch and chunk of a stage's n-th forward or backward, as Megatron orders them."""
    block, inside = divmod(number, job.stages * job.chunks)
    chunk = inside // job.stages
    if is_backward:
        chunk = job.chunks - 1 - chunk
    return block * job.stages + inside % job.stages, chunk, is_backward


def units(job, stage):
    """Warm up with forwards, then one forward, one backward, then drain."""
    total = job.microbatches * job.chunks
    warm = job.stages - 1 - stage
    if job.chunks > 1:
        warm = 2 * warm + (job.chunks - 1) * job.stages
    warm = min(warm, total)
    yield from (order_of(job, number, False) for number in range(warm))
    for number in range(total - warm):
        yield order_of(job, warm + number, False)
        yield order_of(job, number, True)
    yield from (order_of(job, number, True) for number in range(total - warm, total))


def pipelined_step(job, rank, step):
    stage = job.place(rank)[0]
    items = [item for unit in units(job, stage) for item in unit_items(job, rank, step, unit)]
    reductions = buckets(job, rank, step, compute_ns(items))
    if job.plan == "pp":  # the norm of all gradients; interleaved stages have no such tie
        reductions.append(all_reduce((step, "norm"), job.world, 1))
    return (items + reductions + [Wait(transfer.key) for transfer in reductions] +
            kernels([OPTIMIZER]))


def step_items(job, rank, step):
    """What a rank does in a step, but for the loader before and the synchronisation after it."""
    if job.plan in ("fsdp", "hsdp"):
        return sharded_step(job, rank, step)
    if job.plan in ("pp", "interleaved"):
        return pipelined_step(job, rank, step)
    return layered_step(job, rank, step)
