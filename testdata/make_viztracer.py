# SPDX-License-Identifier: MIT
"""What VizTracer leaves: a training loop of three steps as JSON and as an HTML page, a trace with
torch's events merged in, one whose ring buffer overflowed. README.md draws them. make.py writes
them. Times are microseconds."""
import json

PROCESS, WORKER = 4000, 4001
BOOT_NS = 1767325615896926964
FIRST = 81995849580.0  # since boot
# Durations have the digits of a double; this little more rounds to no nanosecond.
MORE = 0.0004006015155280184

SITE = "/usr/lib/python3.12/site-packages/"
TORCH = SITE + "torch/"
LOOP = "<module> (/job/train.py:1)"
STEP = "step (/job/train.py:20)"
NEXT = f"_BaseDataLoaderIter.__next__ ({TORCH}utils/data/dataloader.py:701)"
FETCH = f"_SingleProcessDataLoaderIter._next_data ({TORCH}utils/data/dataloader.py:757)"
ITEM = "Images.__getitem__ (/job/data.py:5)"
MODULE = f"Module._call_impl ({TORCH}nn/modules/module.py:1747)"
FORWARD = "Net.forward (/job/net.py:12)"
PACK = "pack (/job/net.py:40)"
BACKWARD = f"Tensor.backward ({TORCH}_tensor.py:593)"
OPTIMIZER = f"Optimizer.profile_hook_step.<locals>.wrapper ({TORCH}optim/optimizer.py:480)"
WANDB = f"Run.log ({SITE}wandb/sdk/wandb_run.py:1700)"
SAVE = f"save ({TORCH}serialization.py:850)"
SAVE_PARTS = f"_save ({TORCH}serialization.py:1000)"
WRITER = "Writer.run (/job/writer.py:3)"
EMIT = "StreamHandler.emit (/usr/lib/python3.12/logging/__init__.py:1100)"


def step(number):
    """Name, thread, start, end of the calls of a step, after its start."""
    calls = [
        (STEP, PROCESS, 0, 9900),
        (NEXT, PROCESS, 100, 2100),
        (FETCH, PROCESS, 150, 2050),
        (ITEM, PROCESS, 200, 2000),
        (MODULE, PROCESS, 2150, 4250),
        (FORWARD, PROCESS, 2200, 4200),
        (PACK, PROCESS, 2300, 2700),  # calls itself, all in one nanosecond of the outer one's
        (PACK, PROCESS, 2300, 2700),
        (PACK, PROCESS, 2400, 2600),
        (BACKWARD, PROCESS, 4300, 6800),
        (OPTIMIZER, PROCESS, 6900, 7900),
        (WANDB, PROCESS, 8000, 8600),
        ("Tensor.item", PROCESS, 8010, 8110),
        ("builtins.print", PROCESS, 8700, 8800),
        (EMIT, WORKER, 8100, 8600),
    ]
    if number == 1:
        calls += [(SAVE, PROCESS, 8900, 9800), (SAVE_PARTS, PROCESS, 8950, 9750)]
    return [(name, thread, start + 10000 * number, end + 10000 * number)
            for name, thread, start, end in calls]


def call(name, process, thread, start, end):
    return {"pid": process, "tid": thread, "ts": round(FIRST + start, 3), "ph": "X",
            "dur": end - start + MORE, "name": name, "cat": "FEE"}


def named(kind, process, thread, name):
    return {"ph": "M", "pid": process, "tid": thread, "name": kind, "args": {"name": name}}


def collecting(at, is_begin):
    return {"pid": PROCESS, "tid": PROCESS, "ts": FIRST + at, "ph": "C",
            "name": "garbage collection",
            "args": {"collecting": int(is_begin), "collected": 0, "uncollectable": 0}}


def metadata(overflow=False):
    return {"version": "1.1.1", "overflow": overflow, "baseTimeNanoseconds": BOOT_NS}


def by_end(calls):
    """A call is written when it ends; of those that end together the inner ones first."""
    order = sorted(range(len(calls)), key=lambda i: (calls[i][3], -i))
    return [calls[i] for i in order]


def loop():
    calls = [(LOOP, PROCESS, -50, 30050), (WRITER, WORKER, 0, 29000)]
    for number in range(3):
        calls += step(number)
    events = [named("process_name", PROCESS, PROCESS, "MainProcess"),
              named("thread_name", PROCESS, PROCESS, "MainThread"),
              named("thread_name", PROCESS, WORKER, "Thread-1 (run)")]
    events += [call(name, PROCESS, *rest) for name, *rest in by_end(calls)]
    events += [collecting(14400, True), collecting(15000, False)]
    source = "print('</script>')\n"  # files are kept whole: a page must not end here
    return {"traceEvents": events, "viztracer_metadata": metadata(),
            "file_info": {"files": {"/job/train.py": [source, 1]},
                          "functions": {STEP: ["/job/train.py", 20]}}}


# The head of VizTracer's template up to its viewer, of which traps are left: what a reader looks
# for, where it is no trace.
PAGE = """<!DOCTYPE html>
<head>
<script>
'use strict';

function onTraceViewerImportFail() {
  document.body.textContent = 'the viewer is missing';
}
</script>

<script>
  const formats = {"base64": "gARLBy4A"};
  function source(name) { return json_data["file_info"]["files"][name]; }
</script>

<script>
'use strict';

var json_data;
(function() {
  json_data = %s

  document.addEventListener('WebComponentsReady', function() {
    import_data([json_data]);
  });
}());
</script>
</head>
<body>
</body>
</html>
"""


def page():
    return PAGE % json.dumps(loop()).replace("</script>", "<\\/script>")


def with_torch(torch_events, process, main):
    """log_torch: torch's events stand behind the calls, on one clock, without torch's other keys."""
    calls = [("train (/job/train.py:10)", main, 900, 3100)]
    for at in (1000, 2000):
        calls += [(name, main, at + start, at + end) for name, start, end in (
            (NEXT, 5, 115), ("Linear.forward (/job/net.py:30)", 185, 305),
            (OPTIMIZER, 595, 805), ("Tensor.item", 805, 905))]
    events = [named("process_name", process, main, "MainProcess"),
              named("thread_name", process, main, "MainThread")]
    events += [{**call(name, process, thread, start, end), "ts": float(start)}
               for name, thread, start, end in by_end(calls)]
    return {"traceEvents": events + torch_events, "viztracer_metadata": metadata()}


def overflowed():
    """As the C part writes it, with "fee". What began before the buffer's first event is lost."""
    events = [named("process_name", PROCESS, PROCESS, "MainProcess"),
              named("thread_name", PROCESS, PROCESS, "MainThread")]
    text = ",".join(json.dumps(event, separators=(",", ":")) for event in events)
    for name, start, end in (("time.sleep", 10, 30), ("work (/job/loop.py:2)", 5, 40),
                             ("time.sleep", 60, 80), ("work (/job/loop.py:2)", 55, 90)):
        text += (f',{{"pid":{PROCESS},"tid":{PROCESS},"ts":{FIRST + start:.3f},"ph":"X","cat":"fee",'
                 f'"dur":{end - start:.3f},"name":"{name}"}}')
    return '{"traceEvents":[' + text + '], "viztracer_metadata": {"overflow":true}}'


def files(torch_events, process, main):
    """torch_events: those of two_steps.json, whose process and main thread these are."""
    return {
        "viztracer.json": json.dumps(loop()).encode(),
        "viztracer.html": page().encode(),
        "viztracer_torch.json": json.dumps(with_torch(torch_events, process, main)).encode(),
        "viztracer_overflow.json": overflowed().encode(),
    }
