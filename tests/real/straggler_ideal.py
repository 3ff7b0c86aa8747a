# SPDX-License-Identifier: MIT
"""The slowdown of ByteDance's StragglerAnalysis, computed from its timeline anew: each step is
played on its dependencies, once as it was and once with every compute at the mean of its kind and
every transfer at the median of its kind; S is the ratio. And what other repairs win there.
"""
import collections
import statistics

SAME_NS = 20_000  # spans of a rank that start so close are one batch of sends and receives
COMPUTES = ("forward-compute", "backward-compute", "optimizer")


class Op:
    """A compute of a rank, or a transfer of several."""

    def __init__(self, name, members, start, duration):
        self.name, self.members, self.start, self.duration = name, members, start, duration
        self.is_compute = name in COMPUTES


def kind_of(name):
    """A send and its receive are one transfer."""
    way = name.split("-")[0]
    return f"{way}-pp-comm" if name.endswith(("-send", "-recv")) else name


def ops_of(spans, key_of):
    """Spans of a step as ops: those of a transfer share their key."""
    ops, members = [], collections.defaultdict(list)
    for span in spans:
        if span.name in COMPUTES:
            ops.append(Op(span.name, [span.rank], span.start, span.end - span.start))
        elif span.name != "barrier":
            members[key_of(span)].append(span)
    for same in members.values():
        duration = max(span.end for span in same) - max(span.start for span in same)
        ops.append(Op(kind_of(same[0].name), sorted({span.rank for span in same}),
                      max(span.start for span in same), duration))
    return sorted(ops, key=lambda op: op.start)


def play(ops, duration_of):
    """How long a step takes; each rank does one thing after another, but batches together."""
    begin, end, stamp = (collections.defaultdict(float) for _ in range(3))
    for op in ops:
        for rank in op.members:
            if op.is_compute or op.start - stamp[rank] > SAME_NS:
                begin[rank] = end[rank]
                stamp[rank] = -1e18 if op.is_compute else op.start
        start = max(begin[rank] for rank in op.members)
        for rank in op.members:
            end[rank] = max(end[rank], start + duration_of(op))
    return max(end.values())


def ideals(steps):
    durations = collections.defaultdict(list)
    for ops in steps:
        for op in ops:
            durations[op.name, op.is_compute].append(op.duration)
    return {name: statistics.fmean(values) if is_compute else statistics.median(values)
            for (name, is_compute), values in durations.items()}


def slowdown(steps):
    """S, the mean step played as it was, and the ideal one."""
    ideal = ideals(steps)
    played = statistics.fmean(play(ops, lambda op: op.duration) for ops in steps)
    best = statistics.fmean(play(ops, lambda op: ideal[op.name]) for ops in steps)
    return played / best, played, best


def mean_without_transfers(steps):
    return statistics.fmean(play(ops, lambda op: op.duration if op.is_compute else 0)
                            for ops in steps)


def mean_balanced(steps, key_of=lambda op: None):
    """The mean step where each rank computes as long as the mean of the ranks, in all (or of each
    key): each of its computes by the same factor."""
    sums = collections.defaultdict(collections.Counter)
    ranks = set()
    for ops in steps:
        for op in ops:
            if op.is_compute:
                sums[key_of(op)][op.members[0]] += op.duration
                ranks.add(op.members[0])
    means = {key: sum(of.values()) / len(ranks) for key, of in sums.items()}

    def duration_of(op):
        if not op.is_compute:
            return op.duration
        return op.duration * means[key_of(op)] / sums[key_of(op)][op.members[0]]

    return statistics.fmean(play(ops, duration_of) for ops in steps)


def balanced_gains(steps):
    """From equal ranks to the published definition, what each step towards it wins: ranks that
    compute equally long in all; forward, backward and optimizer equally long each; all computes of
    a kind alike, in every microbatch and step; then the transfers at the median of their kind."""
    ideal = ideals(steps)
    played = statistics.fmean(play(ops, lambda op: op.duration) for ops in steps)
    alike = statistics.fmean(play(ops, lambda op: ideal[op.name] if op.is_compute else op.duration)
                             for ops in steps)
    best = statistics.fmean(play(ops, lambda op: ideal[op.name]) for ops in steps)
    means = (mean_balanced(steps), mean_balanced(steps, lambda op: op.name), alike, best)
    return [played - mean for mean in means]


def slowdown_of_stage(steps, ranks):
    """S where all but these ranks are ideal."""
    ideal = ideals(steps)

    def duration_of(op):
        return op.duration if set(op.members) & ranks else ideal[op.name]

    return statistics.fmean(play(ops, duration_of) for ops in steps) / slowdown(steps)[2]
