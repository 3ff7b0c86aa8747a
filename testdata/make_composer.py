# SPDX-License-Identifier: MIT
"""What Composer's JSONTraceHandler leaves of a job of two ranks, and what its merger makes of that;
README.md draws it. make.py prints them. Times are microseconds after BASE, on a clock that is right."""
import json

BASE_US = 1790857026 * 10**6
PROCESS = {0: 7300, 1: 7301}  # of the ranks: Composer's tid
AHEAD = {0: 0, 1: 250}        # of their clocks
ERROR = {0: 4, 1: 6}          # bounds that they state
LATE = {0: 0, 1: 30}          # of all their batches; the data loader takes that much longer
EPOCHS = {4: 0, 5: 0, 6: 1, 7: 1}  # of the batches
STARTS = {4: 1000, 5: 3000, 6: 8100, 7: 10100}  # of event/train_batch on rank 0
EVALUATION = (4700, 7700)


class Recording:
    """The events of one rank in the order of time, as the handler writes them."""

    def __init__(self, rank):
        self.rank = rank
        self.epoch, self.batch = 0, 4
        self.events = []

    def add(self, phase, name, at, categories="", **fields):
        self.events.append({
            "name": name, "cat": categories, "ph": phase,
            "ts": BASE_US + at + AHEAD[self.rank], "pid": self.rank, "tid": PROCESS[self.rank],
            **fields})

    def place(self):
        return {"epoch": self.epoch, "batch": self.batch}

    def begin(self, name, at, categories=""):
        self.add("B", name, at, categories, args=self.place())
        if name.startswith("event/"):
            self.add("i", name, at, categories, args=self.place(), s="p")

    def end(self, name, at, categories=""):
        self.add("E", name, at, categories, args=self.place())

    def hook(self, kind, of, event, start, end):
        """A callback or algorithm, for an event of the trainer."""
        name, categories = f"{kind}/{of}/event/{event}", f"{event},{of}"
        self.begin(name, start, categories)
        if end is not None:
            self.end(name, end, categories)

    def span(self, name, start, end, categories=""):
        self.begin(name, start, categories)
        self.end(name, end, categories)

    def counter(self, name, category, at, **values):
        self.add("C", name, at, category, args=values)

    def metadata(self, name, at, value, key="value"):
        self.add("M", name, at, args={key: value})


def identity(record, at):
    """What the handler writes when its recording begins; the barrier is 100 later."""
    rank = record.rank
    record.metadata("process_name", at, f"Rank {rank} training loop process", "name")
    record.metadata("thread_name", at, "Training Loop", "name")
    record.metadata("thread_sort_index", at, 0, "sort_index")
    record.metadata("global_rank", at, rank)
    record.metadata("process_sort_index", at, rank, "sort_index")
    record.metadata("clock_sync_timestamp_us", at, BASE_US + at + 100 + AHEAD[rank])
    record.metadata("clock_sync_error_bound", at, ERROR[rank])


def microbatch(record, at):
    record.span("event/forward", at, at + 200)
    record.hook("algorithm", "LabelSmoothing", "before_loss", at + 202, at + 208)
    record.span("event/loss", at + 210, at + 240)
    record.span("event/backward", at + 250, at + 550)


def batch(record, number):
    start = STARTS[number] + LATE[record.rank]
    record.begin("event/batch", start - 90)
    record.begin("event/train_batch", start)
    microbatch(record, start + 50)
    microbatch(record, start + 610)
    record.end("event/train_batch", start + 1400)
    record.hook("algorithm", "GradientClipping", "after_train_batch", start + 1410, start + 1430)
    record.batch = number + 1
    record.end("event/batch", start + 1450)
    record.hook("callback", "SpeedMonitor", "batch_end", start + 1460, start + 1660)
    # The file is written here: of the last batch this end is missing.
    record.hook("callback", "JSONTraceHandler", "batch_end", start + 1665,
                None if number == 7 else start + 1685)


def next_batch(record, number):
    start = STARTS[number]
    record.span("dataloader/train", start - 200, start - 140 + LATE[record.rank], "dataloader")
    start += LATE[record.rank]
    record.hook("callback", "JSONTraceHandler", "batch_start", start - 110, start - 100)


def evaluation(record):
    start, end = (at + LATE[record.rank] for at in EVALUATION)
    record.epoch = 1
    record.begin("event/eval", start)
    record.span("dataloader/eval", start + 100, start + 300, "dataloader")
    record.begin("event/eval_batch", start + 400)
    record.span("event/eval_forward", start + 500, start + 2000)
    record.end("event/eval_batch", start + 2100)
    record.end("event/eval", end)
    record.hook("callback", "SpeedMonitor", "eval_end", end + 10, end + 60)


def counters(record):
    """Of rank 0; Composer's system profiler writes them in a thread of its own."""
    for at, percent in ((500, 10.0), (4500, 50.0), (8500, 30.0)):
        record.counter("cpu", "cpu", at, cpu_percent=percent)
        record.counter("memory/virtual", "memory", at, used_gb=(at + 2**20) / 2**9 * 2**10,
                       available_gb=2**30 / 2**9)
        record.counter("disk/nvme0n1/read_bytes", "disk", at, field_name=at * 1000)
        record.counter("disk/nvme0n1/read_time", "disk", at, field_name=at)
        record.counter("network/eth0/kb_sent", "net", at, kb_sent=at * 8 / 2**3)


def recording(rank):
    record = Recording(rank)
    record.end("dataloader/train", 550, "dataloader")  # it began before the recording
    record.begin("callback/JSONTraceHandler/event/batch_start", 600, "batch_start,JSONTraceHandler")
    identity(record, 600)
    record.end("callback/JSONTraceHandler/event/batch_start", 880, "batch_start,JSONTraceHandler")
    for number in STARTS:
        record.epoch = EPOCHS[number]
        record.batch = number
        if number != 4:
            next_batch(record, number)
        batch(record, number)
        if number == 5:
            evaluation(record)
    if rank == 0:
        counters(record)
    order = sorted(range(len(record.events)), key=lambda i: (record.events[i]["ts"], i))
    return [record.events[i] for i in order]


def document(events, is_closed):
    """An event a line, as the handler writes them; a killed job leaves no bracket."""
    lines = ",\n".join(json.dumps(event) for event in events)
    return ("[\n" + lines + ("\n]\n" if is_closed else ",\n")).encode()


def merged(recordings):
    """As Composer's merger: the clock of the lowest rank, and a line for each new thread."""
    out, threads = [], set()
    for rank, events in recordings.items():
        for event in events:
            thread = (rank, event["tid"])
            if thread not in threads:
                out.append({"name": "thread_sort_index", "ph": "M", "pid": rank,
                            "tid": event["tid"], "args": {"sort_index": 99999}})
                threads.add(thread)
            out.append({**event, "ts": event["ts"] - AHEAD[rank]})
    return ("[" + ",".join("\n    " + json.dumps(event) for event in out) + "\n]\n").encode()


def files():
    recordings = {rank: recording(rank) for rank in PROCESS}
    return {
        "composer/ep1-ba8-rank0.json": document(recordings[0], True),
        "composer/ep1-ba8-rank1.json": document(recordings[1], False),
        "composer_merged.json": merged(recordings),
    }
