# SPDX-License-Identifier: MIT
"""Python functions of a VizTracer trace by the shortest way that is plainly right: decimals as
they stand, times in integer nanoseconds, calls nested by time on each thread."""
import collections

import traces


class Call:
    """A call on a thread."""

    def __init__(self, name, start, duration):
        self.name, self.start, self.end = name, start, start + duration
        self.self_ns = self.duration = duration
        self.parent, self.limit = None, self.end

    def is_outermost(self):
        one = self.parent
        while one and one.name != self.name:
            one = one.parent
        return one is None


def calls_by_thread(events):
    threads = collections.defaultdict(list)
    for event in events:
        if isinstance(event, dict) and event.get("ph") == "X" and str(
                event.get("cat")).lower() == "fee":
            start, duration = traces.to_ns(event.get("ts")), traces.to_ns(event.get("dur"))
            threads[str(event.get("pid")), str(event.get("tid"))].append(
                Call(event["name"], start, max(duration, 0)))
    return threads


def nest(calls):
    """Gives each call its parent, and takes its time from the parent's own. A call that lasts
    longer than its parent belongs to it up to its end."""
    # Of equal starts the longer is the parent; of equal spans the later in the file, which is
    # written when calls end.
    order = sorted(range(len(calls)),
                   key=lambda i: (calls[i].start, -calls[i].duration, -i))
    open_calls = []
    for call in (calls[i] for i in order):
        while open_calls and open_calls[-1].limit <= call.start:
            open_calls.pop()
        if open_calls:
            call.parent = open_calls[-1]
            call.limit = min(call.end, call.parent.limit)
            call.parent.self_ns -= call.limit - call.start
        open_calls.append(call)


def functions(events):
    """name → (calls, own time, time with what it called); the last of outermost calls only."""
    found = collections.defaultdict(lambda: [0, 0, 0])
    for calls in calls_by_thread(events).values():
        nest(calls)
        for call in calls:
            row = found[call.name]
            row[0] += 1
            row[1] += call.self_ns
            row[2] += call.duration if call.is_outermost() else 0
    return {name: tuple(row) for name, row in found.items()}


def pauses(events):
    """Durations of the garbage collector's work: from collecting 1 to collecting 0 of a process."""
    counters = sorted((traces.to_ns(event["ts"]), index, event)
                      for index, event in enumerate(events) if isinstance(event, dict)
                      and event.get("ph") == "C" and event.get("name") == "garbage collection")
    begun, found = {}, []
    for time, _, event in counters:
        if int(event["args"]["collecting"]):
            begun.setdefault(event["pid"], time)
        elif event["pid"] in begun:
            found.append(time - begun.pop(event["pid"]))
    return found


def facts(events):
    by_name = functions(events)
    gc = pauses(events)
    return {
        "call_count": sum(count for count, _, _ in by_name.values()),
        "function_count": len(by_name), "self_ns": sum(own for _, own, _ in by_name.values()),
        "gc_count": len(gc), "gc_total_ns": sum(gc), "gc_max_ns": max(gc, default=None)}


def page(json_text):
    """A page of the form that VizTracer writes: the trace stands within a script."""
    escaped = json_text.replace("</script>", "<\\/script>")
    return ("<!DOCTYPE html>\n<head>\n<script>\n'use strict';\n"
            "function onTraceViewerImportFail() {\n"
            "  document.body.textContent = 'trace_viewer_full.html is missing: {[';\n}\n</script>\n"
            "<style>\n  html, body { margin: 0px; }\n</style>\n<script>\n'use strict';\n\n"
            "var json_data;\n(function() {\n  let viewer;\n"
            "  window.__hideTraceViewerPolyfillWarning = true;\n"
            f"  json_data = {escaped}\n\n"
            "  function load() {\n    const req = new XMLHttpRequest();\n  }\n}());\n"
            "</script>\n</head>\n<body>\n</body>\n</html>\n")
