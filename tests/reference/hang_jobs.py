# SPDX-License-Identifier: MIT
"""Jobs that hang, and what their flight recorders leave: dumps with the truth beside.

A job is a program of calls for each rank (data, tensor, pipeline and expert parallel groups) that is
carried out as devices do: calls of a rank in their order, a collective when all members are at it,
a message when both ends are. A fault changes one rank's program; then nothing moves on.
"""
import collections
import json
import os
import pickle

S = 10 ** 9
START_NS = 1700000000 * S
TIMEOUT_MS = 600000


class Call:
    """What one rank calls: a collective of a group, or messages [(is_send, peer, numel)]."""

    def __init__(self, group, name, inputs, outputs, dtype="BFloat16", messages=None):
        self.group, self.name, self.inputs, self.outputs = group, name, inputs, outputs
        self.dtype, self.messages, self.coalesced = dtype, messages, False
        self.tensors, self.site = 1, ("train.py", 10, "step")
        self.seq = self.created = self.completed = None
        self.never = self.is_stuck = False
        self.delay = 0

    def copy(self):
        other = Call(self.group, self.name, self.inputs, self.outputs, self.dtype,
                     list(self.messages) if self.messages else None)
        other.coalesced, other.tensors, other.site = self.coalesced, self.tensors, self.site
        return other

    def signature(self):
        return (self.name, self.dtype, self.tensors,
                None if "scatter" in self.name or "to_all" in self.name else tuple(self.inputs),
                None if self.name == "gather" or "to_all" in self.name else tuple(self.outputs))


class Group:
    def __init__(self, name, desc, ranks):
        self.name, self.desc, self.ranks = name, desc, sorted(ranks)


def product(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


class Job:
    """A plan of ranks, and each rank's program."""

    def __init__(self, random, world=None, tp=None, pp=None, **plan):
        self.random = random
        self.tp = self.pp = self.dp = 1
        world = world or random.choice([2, 2, 3, 4, 4, 6, 8, 8, 8, 12, 16, 16, 24, 32, 64])
        self.split(world)
        if tp and pp:
            self.tp, self.pp, self.dp = tp, pp, world // (tp * pp)
        self.world = world
        self.groups = [Group("0", "default_pg", range(world))]
        self.make_groups()
        self.depth = random.choice([1, 1, 2, 4])
        self.steps = random.randint(2, 5)
        self.layers = random.randint(1, 3)
        self.has_experts = self.dp > 1 and random.random() < 0.3
        self.has_gather = random.random() < 0.3
        self.coalesced = random.random() < 0.5
        self.has_exchange = self.pp % 2 == 0 and random.random() < 0.3
        self.timing = random.random() < 0.5
        self.__dict__.update(plan)
        self.programs = [self.program(rank) for rank in range(world)]

    def split(self, world):
        for name in self.random.sample(["tp", "pp"], 2):
            left = world // (self.tp * self.pp)
            options = [n for n in (1, 2, 4, 8) if left % n == 0 and n <= left]
            setattr(self, name, self.random.choice(options))
        self.dp = world // (self.tp * self.pp)

    def rank_of(self, d, p, t):
        return (d * self.pp + p) * self.tp + t

    def add_group(self, desc, ranks):
        if len(ranks) < 2:
            return None
        self.groups.append(Group(str(len(self.groups)), desc, ranks))
        return self.groups[-1]

    def make_groups(self):
        self.tp_of, self.pp_of, self.dp_of = {}, {}, {}
        for d in range(self.dp):
            for p in range(self.pp):
                ranks = [self.rank_of(d, p, t) for t in range(self.tp)]
                group = self.add_group("tp", ranks)
                self.tp_of.update({rank: group for rank in ranks})
        for d in range(self.dp):
            for t in range(self.tp):
                ranks = [self.rank_of(d, p, t) for p in range(self.pp)]
                group = self.add_group("pp", ranks)
                self.pp_of.update({rank: group for rank in ranks})
        for p in range(self.pp):
            for t in range(self.tp):
                ranks = [self.rank_of(d, p, t) for d in range(self.dp)]
                group = self.add_group("dp", ranks)
                self.dp_of.update({rank: group for rank in ranks})

    # -- programs

    def collective(self, calls, group, name, count, site):
        if not group:
            return
        size, inputs, outputs = len(group.ranks), [count], [count]
        if name == "_all_gather_base":
            outputs = [count * size]
        if name == "_reduce_scatter_base":
            inputs, outputs = [count * size], [count]
        if name == "all_to_all":
            inputs = outputs = [count * size]
        calls.append(Call(group, name, inputs, outputs))
        calls[-1].site = site

    def message(self, calls, rank, is_send, peer, site):
        group = self.pp_of[rank]
        call = Call(group, "send" if is_send else "recv", [2048], [2048], messages=None)
        call.messages = [(is_send, group.ranks.index(peer), 2048)]
        call.coalesced, call.site = self.coalesced, site
        calls.append(call)

    def exchange(self, calls, rank, peer):
        """A send and a receive in one batch."""
        group = self.pp_of[rank]
        call = Call(group, "exchange", [4096], [4096])
        call.messages = [(is_send, group.ranks.index(peer), 4096) for is_send in (True, False)]
        call.coalesced, call.site = True, ("pipe.py", 60, "exchange")
        calls.append(call)

    def program(self, rank):
        calls = []
        t, p, d = rank % self.tp, rank // self.tp % self.pp, rank // (self.tp * self.pp)
        for _ in range(self.steps):
            for _ in range(2 if self.pp > 1 else 1):
                self.stage(calls, rank, p, self.rank_of(d, p - 1, t), self.rank_of(d, p + 1, t),
                           "forward")
            for _ in range(2 if self.pp > 1 else 1):
                self.stage(calls, rank, self.pp - 1 - p, self.rank_of(d, p + 1, t),
                           self.rank_of(d, p - 1, t), "backward")
            if self.has_exchange:
                self.exchange(calls, rank, self.rank_of(d, p ^ 1, t))
            self.collective(calls, self.dp_of[rank], "_reduce_scatter_base", 4096,
                            ("optim.py", 51, "step"))
            self.collective(calls, self.dp_of[rank], "_all_gather_base", 4096,
                            ("optim.py", 77, "step"))
            self.collective(calls, self.groups[0], "all_reduce", 1, ("train.py", 212, "clip"))
            if self.has_gather:
                self.collective(calls, self.groups[0], "gather", 8, ("log.py", 9, "log"))
                calls[-1].outputs = [8 * self.world] if rank == 0 else []
        return calls

    def stage(self, calls, rank, place, before, after, phase):
        if place > 0:
            self.message(calls, rank, False, before, ("pipe.py", 33, "recv_" + phase))
        for layer in range(self.layers):
            line = 100 + 10 * layer
            self.collective(calls, self.tp_of[rank], "all_reduce", 8192, ("model.py", line, phase))
            self.collective(calls, self.tp_of[rank], "_all_gather_base", 1024 * (layer + 1),
                            ("model.py", line + 3, phase))
            if self.has_experts:
                self.collective(calls, self.dp_of[rank], "all_to_all", 512,
                                ("moe.py", line, phase))
        if place < self.pp - 1:
            self.message(calls, rank, True, after, ("pipe.py", 47, "send_" + phase))

    # -- carrying it out

    def number(self):
        """Numbers of calls in their groups, collectives and messages apart."""
        for program in self.programs:
            counts = collections.Counter()
            for call in program:
                key = (call.group.name, call.messages is not None)
                counts[key] += 1
                call.seq = counts[key]

    def members_at(self, rank, heads):
        """The ranks that make the call at a rank's head complete, or None."""
        call = self.programs[rank][heads[rank]]
        if call.is_stuck:
            return None
        if call.messages is None:
            for other in call.group.ranks:
                if heads[other] >= self.enqueued[other]:
                    return None
                theirs = self.programs[other][heads[other]]
                if (theirs.group is not call.group or theirs.messages is not None or
                        theirs.seq != call.seq or theirs.is_stuck or
                        theirs.signature() != call.signature()):
                    return None
            if call.name == "all_to_all":
                calls = [self.programs[r][heads[r]] for r in call.group.ranks]
                if sum(product(c.inputs) for c in calls) != sum(product(c.outputs) for c in calls):
                    return None
            if call.name == "gather" and sum(bool(self.programs[r][heads[r]].outputs)
                                             for r in call.group.ranks) != 1:
                return None
            return call.group.ranks
        other = call.group.ranks[call.messages[0][1]]
        if heads[other] >= self.enqueued[other]:
            return None
        theirs = self.programs[other][heads[other]]
        own = call.group.ranks.index(rank)
        answers = {(not is_send, own, count) for is_send, _, count in call.messages}
        if set(theirs.messages or ()) != answers or theirs.group is not call.group:
            return None
        return [rank, other]

    def enqueue(self, rank, heads):
        program = self.programs[rank]
        while (self.enqueued[rank] < len(program) and
               self.enqueued[rank] < heads[rank] + self.depth):
            call = program[self.enqueued[rank]]
            if call.never:
                return
            self.clock[rank] = max(self.clock[rank], self.device[rank] if
                                   self.enqueued[rank] == heads[rank] else 0)
            self.clock[rank] += self.random.randint(20000, 900000) + call.delay
            call.created = self.clock[rank]
            self.enqueued[rank] += 1

    def run(self, most=None):
        """Until nothing moves, or `most` calls are complete."""
        self.number()
        self.enqueued = [0] * self.world
        self.clock = [START_NS + self.random.randint(0, 10 ** 6) for _ in range(self.world)]
        self.device = list(self.clock)
        heads, done = [0] * self.world, 0
        todo = collections.deque(range(self.world))
        while todo and (most is None or done < most):
            rank = todo.popleft()
            self.enqueue(rank, heads)
            if heads[rank] >= self.enqueued[rank]:
                continue
            members = self.members_at(rank, heads)
            if not members:
                continue
            calls = [self.programs[r][heads[r]] for r in members]
            end = max([c.created for c in calls] + [self.device[r] for r in members]) + 200000
            for member, call in zip(members, calls):
                call.completed = end
                self.device[member] = end
                heads[member] += 1
                todo.append(member)
            done += 1
        self.heads = heads
        return done

    def last_ns(self):
        return max([c.created for p in self.programs for c in p if c.created] +
                   [c.completed for p in self.programs for c in p if c.completed])


# ---- dumps --------------------------------------------------------------------------------------

class Writer:
    """How a version of the recorder writes a rank's calls."""

    def __init__(self, random, job):
        self.random, self.job = random, job
        self.version = random.choice(["1.5", "2.0", "2.2", "2.3", "2.4", "2.7", "2.9", "2.10"])
        self.is_json = random.random() < 0.4
        self.protocol = random.choice([2, 3, 4, 5])
        self.has_frames = random.random() < 0.6
        self.capacity = random.choice([None, None, 20, 30, 60])
        self.rank_inside = random.random() < 0.2
        self.backend = random.choice(["nccl", "nccl", "nccl", "xccl", "gloo"])
        self.is_old = self.version.startswith("1.")
        self.frames = {}

    def frames_of(self, call):
        """One list of shared frames for each place, as the recorder pickles them."""
        if call.site not in self.frames:
            file, line, name = call.site
            self.frames[call.site] = [
                {"name": call.name, "filename":
                 "/opt/conda/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
                 "line": 2806},
                {"name": name, "filename": "/srv/job/" + file, "line": line},
                {"name": "main", "filename": "/srv/job/train.py", "line": 400},
                {"name": "<module>", "filename": "/srv/job/train.py", "line": 420}]
        return self.frames[call.site]

    def entry(self, call, name, record, state):
        p2p = call.messages is not None
        coalesced = name == "coalesced"
        started = state != "scheduled" and self.job.timing
        entry = {}
        if self.has_frames:
            entry["frames"] = self.frames_of(call)
        sizes = [[], []] if coalesced else [self.sizes(call.inputs, call),
                                            self.sizes(call.outputs, call)]
        entry.update({
            "record_id": record, "pg_id": int(call.group.name),
            "process_group": (call.group.name, call.group.desc),
            "collective_seq_id": 0 if p2p else call.seq, "p2p_seq_id": call.seq if p2p else 0,
            "op_id": record + 1, "profiling_name": self.backend + ":" + name,
            "time_created_ns": call.created, "input_sizes": sizes[0],
            "input_dtypes": [call.dtype] * len(sizes[0]), "output_sizes": sizes[1],
            "output_dtypes": [call.dtype] * len(sizes[1]), "state": state,
            "time_discovered_started_ns": call.created + 1000 if started else None,
            "time_discovered_completed_ns": call.completed if state == "completed" else None,
            "retired": state == "completed", "timeout_ms": TIMEOUT_MS, "is_p2p": p2p})
        if state == "completed" and self.job.timing:
            entry["duration_ms"] = (call.completed - call.created) / 1e6
        if self.is_old:
            entry["seq_id"] = entry.pop("collective_seq_id") + entry.pop("p2p_seq_id")
        return entry

    def sizes(self, sizes, call):
        return [list(sizes)] * call.tensors if sizes else []

    def entries(self, rank):
        entries = []
        for call in self.job.programs[rank][:self.job.enqueued[rank]]:
            state = "completed" if call.completed else (
                "started" if self.job.timing and self.is_begun(rank, call) else "scheduled")
            names = [call.name]
            if call.messages:
                own = call.group.ranks.index(rank)
                names = [f"send {own}->{peer}" if is_send else f"recv {own}<-{peer}"
                         for is_send, peer, _ in call.messages]
            for name in names if call.coalesced else []:
                entries.append(self.entry(call, name, len(entries), "scheduled"))
            name = "coalesced" if call.coalesced else names[0]
            entries.append(self.entry(call, name, len(entries), state))
        return entries if self.capacity is None else entries[-self.capacity:]

    def is_begun(self, rank, call):
        return (call is self.job.programs[rank][self.job.heads[rank]] and
                not getattr(call, "not_begun", False))

    def status(self, rank):
        status = {}
        for call in self.job.programs[rank][:self.job.enqueued[rank]]:
            if call.messages is not None:
                continue
            of = status.setdefault(call.group.name, {
                "last_enqueued_collective": -1, "last_started_collective": -1,
                "last_completed_collective": -1})
            of["last_enqueued_collective"] = call.seq
            if call.completed:
                of["last_completed_collective"] = call.seq
        return status

    def dump(self, rank):
        config = {g.name: {"name": g.name, "desc": g.desc, "ranks": str(g.ranks)}
                  for g in self.job.groups if rank in g.ranks}
        dump = {"version": self.version, "pg_config": config}
        if not self.is_old and self.version != "2.0":
            dump["pg_status"] = self.status(rank)
        dump["entries"] = self.entries(rank)
        if self.rank_inside:
            dump["rank"] = rank
        return dump

    def texts(self, dump):
        """The JSON dumps write numbers of pg_status as texts, and keys in order."""
        for status in dump.get("pg_status", {}).values():
            for key in status:
                status[key] = str(status[key])
        return json.dumps(dump, sort_keys=True).encode()

    def write(self, folder, rank, written_ns=None):
        name = "rank_%d.json" if self.is_json else "nccl_trace_rank_%d"
        path = os.path.join(folder, name % rank)
        dump = self.dump(rank)
        with open(path, "wb") as out:
            out.write(self.texts(dump) if self.is_json else
                      pickle.dumps(dump, protocol=self.protocol))
        if written_ns:
            os.utime(path, ns=(written_ns, written_ns))


# ---- faults -------------------------------------------------------------------------------------

class Truth:
    def __init__(self, kind, culprits, call=None, kinds=None, drop=()):
        self.kind, self.culprits, self.call = kind, set(culprits), call
        self.kinds = kinds or {kind}
        self.drop = set(drop)   # ranks that leave no dump
        self.may_tie = False    # nothing tells the culprit from the others
        self.is_any_call = False


def pick(job, wants, least=1):
    """A rank and the index of one of its calls, not of the first step, that is as wanted."""
    found = [(rank, i) for rank in range(job.world) for i, call in enumerate(job.programs[rank])
             if i >= len(job.programs[rank]) // job.steps and wants(rank, call)]
    return job.random.choice(found) if len(found) >= least else None


def is_collective(call):
    return call.messages is None


def missing_call(job):
    rank, i = pick(job, lambda rank, call: True)
    job.programs[rank][i].never = True
    return Truth("missing_call", {rank}, job.programs[rank][i])


# What the others wait in follows from the program: calls that look wrong are of many kinds.
LEFT_KINDS = {"missing_call", "other_collective", "size", "count", "split", "root", "order", "peer"}


def leave(job, kind, edit):
    """A rank leaves its program at a call: edit(its calls, the number of that one)."""
    rank, i = pick(job, lambda rank, call: True)
    truth = Truth(kind, {rank}, job.programs[rank][i], kinds=LEFT_KINDS)
    edit(job.programs[rank], i)
    truth.may_tie = truth.is_any_call = True
    return truth


def skip(job):
    """It goes on with the next."""
    def edit(program, i):
        del program[i]
    return leave(job, "skip", edit)


def extra(job):
    """It makes one that no other makes."""
    def edit(program, i):
        program.insert(i, Call(job.groups[0], "broadcast", [77], [77]))
    return leave(job, "extra", edit)


def early(job):
    """It is at its end."""
    def edit(program, i):
        program[i:] = [Call(job.groups[0], "barrier", [1], [1])]
    return leave(job, "early", edit)


def no_dump(job):
    rank, i = pick(job, lambda rank, call: True)
    job.programs[rank][i].never = True
    return Truth("no_dump", {rank}, job.programs[rank][i], drop={rank})


def change(job, wants, kind, edit):
    found = pick(job, wants)
    if not found:
        return None
    rank, i = found
    call = job.programs[rank][i]
    edit(call)
    truth = Truth(kind, {rank}, call)
    truth.may_tie = len(call.group.ranks) == 2
    return truth


def other_collective(job):
    def edit(call):
        call.name = "broadcast" if call.name != "broadcast" else "all_reduce"
        call.outputs = call.inputs
    return change(job, lambda r, c: is_collective(c), "other_collective", edit)


def size(job):
    def edit(call):
        call.inputs = [n + 16 for n in call.inputs]
        call.outputs = [n + 16 for n in call.outputs]
    return change(job, lambda r, c: is_collective(c) and
                  c.name in ("all_reduce", "_all_gather_base", "_reduce_scatter_base"),
                  "size", edit)


def message_size(job):
    def edit(call):
        call.messages = [(s, p, n + 8) for s, p, n in call.messages]
        call.inputs, call.outputs = [2056], [2056]
    return change(job, lambda r, c: not is_collective(c), "size", edit)


def dtype(job):
    def edit(call):
        call.dtype = "Float"
    return change(job, lambda r, c: is_collective(c) and c.name == "all_reduce", "dtype", edit)


def count(job):
    def edit(call):
        call.tensors += 1
    return change(job, lambda r, c: is_collective(c) and c.name == "all_reduce", "count", edit)


def root(job):
    def edit(call):
        call.outputs = [8 * len(call.group.ranks)]
    truth = change(job, lambda r, c: c.name == "gather" and not c.outputs, "root", edit)
    if truth:
        truth.may_tie = True
    return truth


def split(job):
    def edit(call):
        call.inputs = [call.inputs[0] + 4]
    truth = change(job, lambda r, c: c.name == "all_to_all", "split", edit)
    return truth


def peer(job):
    if job.pp < 4:
        return None

    def wrong(rank, call):
        return not is_collective(call) and len(call.messages) == 1
    found = pick(job, wrong)
    rank, i = found
    call = job.programs[rank][i]
    (is_send, right, numel), = call.messages
    usual = {to for c in job.programs[rank] for sends, to, _ in c.messages or ()
             if sends == is_send}
    own = call.group.ranks.index(rank)
    others = [p for p in range(len(call.group.ranks)) if p not in usual and p != own]
    if not others:
        return None
    call.messages = [(is_send, job.random.choice(others), numel)]
    return Truth("peer", {rank}, call)


def order(job):
    """Two calls of groups that share ranks, the other way round on one rank."""
    def wants(rank, call):
        program = job.programs[rank]
        i = next(k for k, c in enumerate(program) if c is call)
        if i + 1 >= len(program) or not is_collective(call) or not is_collective(program[i + 1]):
            return False
        after = program[i + 1]
        return (after.group is not call.group and
                len(set(after.group.ranks) & set(call.group.ranks)) > 1)
    found = pick(job, wants)
    if not found:
        return None
    rank, i = found
    program = job.programs[rank]
    call = program[i]
    program[i], program[i + 1] = program[i + 1], program[i]
    truth = Truth("order", {rank}, call)
    truth.may_tie = True
    return truth


def stuck(job, kind):
    rank, i = pick(job, lambda r, c: is_collective(c))
    call = job.programs[rank][i]
    job.number()
    for other in call.group.ranks:
        for theirs in job.programs[other]:
            if theirs.group is call.group and theirs.seq == call.seq and is_collective(theirs):
                theirs.is_stuck = True
    return rank, call


def unfinished(job):
    _, call = stuck(job, "unfinished")
    return Truth("unfinished", set(), call)


def not_started(job):
    job.timing, job.depth = True, 1
    rank, call = stuck(job, "not_started")
    if len(call.group.ranks) < 3:
        return Truth("unfinished", set(), call)
    call.not_begun = True
    return Truth("not_started", {rank}, call)


def late(job):
    job.depth = 1
    rank, call = stuck(job, "late")
    call.delay = int(job.random.uniform(1.0, 1.5) * TIMEOUT_MS * 1e6)
    if len(call.group.ranks) < 2:
        return None
    return Truth("late", {rank}, call)


FAULTS = [missing_call, no_dump, other_collective, size, message_size, dtype, count, root, split,
          peer, order, unfinished, not_started, late, skip, extra, early]


def make_case(random, folder, world=None):
    """Writes the dumps of a job that hangs; returns (truth, job)."""
    while True:
        job = Job(random, world)
        truth = random.choice(FAULTS)(job)
        if not truth:
            continue
        job.run()
        if any(job.heads[r] < job.enqueued[r] for r in range(job.world)
               if r not in truth.drop):
            break
    writer = Writer(random, job)
    # Dumps of bystanders may be missing: not those without whom nothing can be decided.
    others = [r for r in range(job.world)
              if r not in truth.culprits and (not truth.call or r not in truth.call.group.ranks)]
    if others and not truth.is_any_call and random.random() < 0.2:
        truth.drop |= set(random.sample(others, min(len(others), random.randint(1, 2))))
    for rank in range(job.world):
        if rank not in truth.drop:
            writer.write(folder, rank)
    return truth, job, writer


def make_clean(random, folder, world=None):
    """Dumps of a job at its end, or under way and written at once."""
    job = Job(random, world)
    total = job.run()
    written = None
    if random.random() < 0.6:
        state = random.getstate()
        job.programs = [[call.copy() for call in program] for program in job.programs]
        job.run(random.randint(1, total))
        written = job.last_ns() + random.randint(0, S)
        random.setstate(state)
        for rank in range(job.world):
            if job.heads[rank] >= len(job.programs[rank]):
                job.heads[rank] = len(job.programs[rank]) - 1
    else:
        job.heads = [len(p) - 1 for p in job.programs]
    writer = Writer(random, job)
    for rank in range(job.world):
        writer.write(folder, rank, written)
    return job, writer
