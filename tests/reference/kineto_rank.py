# SPDX-License-Identifier: MIT
"""The trace of one rank, written as libkineto writes traces (2.8 and later). Times are integer ns
of one clock for all ranks; each rank's own clock is what it makes of them when the file is
written."""
import json

BASE_NS = 1_767_189_312_000_000_000
KERNELS = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_allgather_base": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_reduce_scatter_base":
        "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "all_to_allv": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "send": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "recv": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
    "broadcast": "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "barrier": "ncclDevKernel_AllReduce_Sum_u8_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
}
MAX_LISTED_RANKS = 30


class Group:
    """A process group: its ranks, and how it is called."""

    def __init__(self, name, description, ranks):
        self.name, self.description, self.ranks = name, description, list(ranks)

    def ranks_text(self):
        """As torch writes it: cut where it gets long."""
        if len(self.ranks) <= MAX_LISTED_RANKS:
            return str(self.ranks)
        return str(self.ranks[:MAX_LISTED_RANKS])[:-1] + ", ...]"

    def stride(self):
        gaps = {b - a for a, b in zip(self.ranks, self.ranks[1:])}
        return gaps.pop() if len(gaps) == 1 else -1


def collective_args(name, group, in_count, out_count, **more):
    """What record_param_comms says of a collective, and libkineto copies to its kernel."""
    return {"Collective name": name, "In msg nelems": in_count, "Out msg nelems": out_count,
            "Group size": len(group.ranks), "dtype": "BFloat16", "In split size": "[]",
            "Out split size": "[]", "Process Group Name": group.name,
            "Process Group Description": group.description,
            "Process Group Ranks": group.ranks_text(), "Global rank start": group.ranks[0],
            "Global rank stride": group.stride(), **more}


class Trace:
    """One process with its device. Events are given in any order, and written in that of time."""
    is_old = False  # torch before 2.4: whole microseconds since 1970, no base time
    MAIN, AUTOGRAD = 4000, 4611

    def __init__(self, rank, world_size, groups=(), host_name=None, base_ns=BASE_NS):
        self.rank, self.world_size, self.groups = rank, world_size, groups
        self.host_name, self.base_ns = host_name, base_ns
        self.device = rank % 8
        self.calls, self.externals, self.events = 0, 0, []

    def next_external(self):
        self.externals += 1
        return self.externals

    def event(self, cat, name, start, end, tid, args, pid=MAIN):
        self.events.append((start, end, cat, name, pid, tid, args))

    def span(self, name, start, end, tid=MAIN, cat="user_annotation", **args):
        self.event(cat, name, start, end, tid, {"External id": self.next_external(), **args})

    def call(self, name, start, end, tid=MAIN):
        """A call into the runtime; returns its correlation, which is that of what it launches."""
        self.calls += 1
        self.event("cuda_runtime", name, start, end, tid,
                   {"cbid": 211, "correlation": self.calls})
        return self.calls

    def device_event(self, cat, name, start, end, stream, correlation, **args):
        self.event(cat, name, start, end, stream,
                   {"device": self.device, "context": 1, "stream": stream,
                    "correlation": correlation, **args}, self.device)

    def head(self):
        head = {"schemaVersion": 1,
                "deviceProperties": [{"id": number, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}
                                     for number in range(8)]}
        if self.host_name:
            head["host_name"] = self.host_name
        info = {"backend": "nccl", "rank": self.rank, "world_size": self.world_size}
        if self.groups:
            info["pg_count"] = len(self.groups)
            info["pg_config"] = [
                {"pg_name": group.name, "pg_desc": group.description, "backend_config": "cuda:nccl",
                 "pg_size": len(group.ranks), "ranks": group.ranks} for group in self.groups]
        head["distributedInfo"] = {**info, "nccl_version": "2.26.2"}
        if not self.is_old:
            head["displayTimeUnit"] = "ms"
            head["baseTimeNanoseconds"] = self.base_ns
        return head

    def times(self, start, end):
        """As they are written."""
        if self.is_old:
            return (BASE_NS + start) // 1000, (end - start) // 1000
        return us(start + BASE_NS - self.base_ns), us(end - start)

    def write(self, path, clock=lambda time: time, window=None):
        """clock: the rank's own clock by the time; window: what the profiler saw of that time."""
        lines = []
        for event in sorted(self.events, key=lambda event: event[0]):
            start, end, cat, name, pid, tid, args = event
            if window and not window[0] <= start < window[1]:
                continue
            ts, dur = self.times(clock(start), clock(end))
            lines.append('{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%s,"dur":%s,'
                         '"args":%s}' % (cat, name, pid, tid, ts, dur,
                                         json.dumps(args, separators=(",", ":"))))
        text = json.dumps(self.head(), separators=(",", ":"))
        path.write_text(text[:-1] + ',"traceEvents":[\n' + ",\n".join(lines) + "\n]}\n")


def us(ns):
    """Microseconds with three decimals."""
    sign = "-" if ns < 0 else ""
    return f"{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03}"
