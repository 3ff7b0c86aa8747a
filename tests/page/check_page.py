#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages of --format html in a browser: they open without an error, ask nothing of a network, and do what they promise.

usage: check_page.py TSCOPE TESTDATA

Drives Debian's chromium through a pipe, one page at a time. Skipped where there is none. Pages of real traces are opened
where these are at hand. In the environment:

  TSCOPE_VALIDATORS  a folder that scripts/fetch_validators filled: axe-core looks at each page, too
  TSCOPE_PICTURES    a folder for screenshots of some pages, light, dark, as printed, and of a telephone
  QUIET              the machine has nothing else to do: the page of many slices must load in 2 s and draw a frame in 50 ms,
                     else in ten times that
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Command line -> pictures that its page must have.
PAGES = {
    "trace two_steps.json": ["budget", "timeline", "tree", "roofline"],
    "trace slow_loader.json": ["budget", "timeline", "tree"],
    "trace cpu_only.json": ["timeline", "tree"],
    "trace rocm.json": ["timeline"],
    "trace serving_eager.json": ["timeline", "budget"],
    "trace viztracer.json": ["timeline"],
    "report ranks_slow_host": ["budget", "timeline", "heat"],
    "report run_sick": ["budget"],
    "report three_jobs": [],
    "memory oom.pickle": ["memory"],  # by site, see BY_SITE
    "memory memory_timeline.json.gz": ["memory"],
    "hang hang_order": [],
    "diff run_before run_after": ["waterfall"],
}
REAL = {
    "trace pytorch+kineto/@*/tb_plugin/samples/*/worker0*": ["budget", "timeline", "tree"],
    "trace facebookresearch+HolisticTraceAnalysis/tests/data/df_index_resolver/*": ["timeline", "tree"],
    "trace AMD-AGI+TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz": ["budget", "timeline", "tree", "roofline"],
    "trace harryjmoss+particle_transformer/cpu_tensorboard_logs/hmoss-6a49xb_4025559*": ["timeline", "tree"],
    "memory ZidongLiu+DeComFL/*/memory.pickle": ["memory"],
    "memory Wedsonlin+assignment2-systems/results/medium_128_training*": ["memory"],
    "report facebookresearch+param/et_replay/tests/inputs/dlrm_kineto.tar.gz.d/dlrm_kineto": ["budget", "timeline", "heat"],
    "report ByteDance-Seed+StragglerAnalysis/data/timeline-ST.json.gz": [],
}
# Of which pictures are kept for people to look at.
PICTURED = ("trace-two_steps", "report-ranks_slow_host", "memory-oom", "diff-run_before-run_after", "real-worker0",
            "real-dlrm", "real-resnet", "real-hmoss", "real-medium")
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><!--"
SLICES = 100_000

# Contrast of every text, names of pictures and fields, order of headings, ids: what fails, or nothing.
ACCESSIBLE = r"""(() => {
  const wrong = [];
  const parts = color => color.match(/[\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = node => { for (; node; node = node.parentElement) { const c = parts(getComputedStyle(node).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c; } return [255, 255, 255]; };
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest("svg, option, .sr, .skip")) continue;
    const a = light(parts(getComputedStyle(node).color).slice(0, 3)), b = light(behind(node).slice(0, 3));
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (contrast < 4.5) wrong.push("contrast " + contrast.toFixed(2) + " of " + node.tagName + "." + node.className + ": " + node.textContent.slice(0, 40));
  }
  for (const node of document.querySelectorAll("svg, canvas"))
    if (!node.getAttribute("aria-label") && node.getAttribute("aria-hidden") !== "true") wrong.push("picture without a name");
  for (const node of document.querySelectorAll("input, select, [role=region]"))
    if (!node.getAttribute("aria-label")) wrong.push("field without a name: " + node.outerHTML.slice(0, 60));
  for (const node of document.querySelectorAll("a, button"))
    if (!node.textContent.trim()) wrong.push("empty link: " + node.outerHTML.slice(0, 60));
  let last = 0;
  for (const node of document.querySelectorAll("h1, h2, h3")) {
    const level = Number(node.tagName[1]);
    if (level > last + 1) wrong.push("heading skips a level: " + node.textContent);
    last = level;
  }
  const regions = [...document.querySelectorAll("[role=region]")].map(n => n.getAttribute("aria-label"));
  regions.forEach((name, i) => { if (regions.indexOf(name) !== i) wrong.push("region twice: " + name); });
  const ids = [...document.querySelectorAll("[id]")].map(n => n.id);
  ids.forEach((id, i) => { if (ids.indexOf(id) !== i) wrong.push("id twice: " + id); });
  for (const node of document.querySelectorAll("a[href^='#']"))
    if (!document.querySelector(node.getAttribute("href"))) wrong.push("link to nothing: " + node.getAttribute("href"));
  return wrong.slice(0, 10);
})()"""

SORTED = r"""(() => {
  const table = [...document.querySelectorAll("table.data")].find(t => t.tHead && t.tHead.querySelector("button") && t.tBodies[0].rows.length > 3);
  if (!table) return "none";
  const heads = [...table.tHead.rows[0].cells], column = heads.findIndex((h, i) => table.tBodies[0].rows[0].cells[i].dataset.v);
  if (column < 0) return "none";
  const values = () => [...table.tBodies[0].rows].map(r => Number(r.cells[column].dataset.v || 0));
  heads[column].querySelector("button").click();
  heads[column].querySelector("button").click();
  return values().every((v, i, all) => i === 0 || all[i - 1] <= v) ? "sorted" : "not sorted";
})()"""

FILTERED = r"""(() => {
  const input = document.querySelector("input[type=search]");
  if (!input) return "none";
  input.value = "no such name";
  input.dispatchEvent(new Event("input"));
  const rows = [...input.parentElement.nextElementSibling.querySelectorAll("tbody tr")];
  const hidden = rows.every(r => r.hidden);
  input.value = "";
  input.dispatchEvent(new Event("input"));
  return hidden && rows.every(r => !r.hidden) ? "filtered" : "not filtered";
})()"""

ZOOMED = r"""(() => {
  const part = tscope.parts.find(p => p.timeline);
  if (!part) return "none";
  const canvas = part.views.querySelector("section[id$=-timeline] canvas"), key = k => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: k }));
  const width = () => part.timeline.range()[1] - part.timeline.range()[0], all = width();
  key("+");
  if (Math.abs(width() - all / 2) > all / 20) return "zooms " + all + " to " + width();
  const from = part.timeline.range()[0];
  key("ArrowRight");
  if (part.timeline.range()[0] <= from) return "does not move";
  key("0");
  return Math.abs(width() - all) > all / 20 ? "does not go back" : "zoomed";
})()"""

FRAMES = r"""(async () => {
  const part = tscope.parts[0], times = [], all = part.timeline.end;
  for (let i = 0; i < 41; i++) {
    const width = all / 2 ** (i % 9);
    part.timeline.show((all - width) * (i / 41), (all - width) * (i / 41) + width);
    const begun = performance.now();
    part.timeline.draw();
    part.views.querySelector("canvas").getContext("2d").getImageData(0, 0, 1, 1);
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[20];
})()"""


BY_SITE = "document.querySelectorAll('section[id$=-memory] polygon').length > 1 ? 'by site' : 'no memory by site'"

# The pictures of one snapshot have one axis of time.
ONE_AXIS = r"""(() => {
  const axes = [...document.querySelectorAll("section[id$=-memory] svg.plot")].map(plot =>
    [...plot.querySelectorAll("text")].filter(text => text.getAttribute("y") === "245").map(text => text.textContent).join(" "));
  return axes.length > 1 && axes.every(axis => axis === axes[0]) ? "one axis" : "axes of time differ: " + axes.join(" | ");
})()"""

# Ticks are round, and differ from one another wherever the timeline is zoomed to.
TICKS = {
    "ticks(0, 167.7e6, 5).values.map(ns => tickTime(ns, 50e6)).join(' ')": "0 50 ms 100 ms 150 ms",
    "tickTime(652345200, 200)": "652.3452 ms",
    "tickTime(1.5e9, 5e8)": "1.5 s",
    "ticks(0, 6.74 * 2 ** 30, 5, true).values.map(tickBytes).join(' ')": "0 2 GiB 4 GiB 6 GiB",
    "tickBytes(2.5 * 2 ** 20)": "2.5 MiB",
    "[inkOn('#3b6fb6'), inkOn('#66758a'), inkOn('#e07b39')].join(' ')": "#fff #fff #000",
}

# At the width of a telephone nothing but tables and drawings, which scroll by themselves, is wider than the page.
NARROW = "document.documentElement.scrollWidth <= 390 ? 'narrow' : 'wide on a telephone: ' + document.documentElement.scrollWidth"

# Rows of a table are alike, and so are nodes of a picture: the first stand for all, or axe takes seconds for a page.
AXE = r"""(async () => {
  for (const node of document.querySelectorAll("tbody tr:nth-child(n+9), svg g:nth-of-type(n+9)")) node.remove();
  return (await axe.run({ elementRef: true, resultTypes: ["violations"] })).violations
    .map(v => "axe: " + v.impact + " " + v.id + ": " + v.nodes[0].html.slice(0, 200));
})()"""


class Browser:
    """One page at a time; what it logs and asks of a network is kept."""

    def __init__(self, folder):
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--remote-debugging-pipe", "--window-size=1280,900", f"--user-data-dir={folder}", "about:blank"]
        # Descriptors 3 and 4 are the pipe's ends.
        keep = f"exec 3<&{to_read} 4>&{from_write}; exec \"$@\""
        self.process = subprocess.Popen(["bash", "-c", keep, "sh"] + command, pass_fds=[to_read, from_write],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.count, self.complaints = b"", 0, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise RuntimeError("chromium has gone")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        found = json.loads(text)
        self.note(found.get("method"), found.get("params", {}))
        return found

    def note(self, method, params):
        if method == "Runtime.exceptionThrown":
            self.complaints.append("exception: " + json.dumps(params["exceptionDetails"])[:400])
        elif method == "Log.entryAdded":
            self.complaints.append("log: " + params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append("console: " + json.dumps(params["args"])[:300])
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:", "blob:")):
            self.complaints.append("request: " + params["request"]["url"])

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        wanted = self.count
        while True:
            found = self.message()
            if found.get("id") == wanted:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]

    def ask(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            return "exception: " + json.dumps(result["exceptionDetails"])[:400]
        return result["result"].get("value")

    def open(self, path):
        """Milliseconds until the pictures stood."""
        self.complaints = []
        self.call("Page.navigate", url=path.resolve().as_uri())
        return self.ask("""(async () => { const wait = () => new Promise(r => setTimeout(r, 20));
          while (!window.tscope && performance.now() < 20000) await wait();
          return window.tscope ? performance.now() : -1; })()""")

    def picture(self, path):
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait()


def hostile_trace(path):
    """Names that would leave every quote there is."""
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": 1000 * i, "dur": 990}
              for i in range(1, 4)]
    for i in range(1, 4):
        events += [{"ph": "X", "cat": "cpu_op", "name": HOSTILE, "pid": 1, "tid": 1, "ts": 1000 * i + 10, "dur": 100},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1000 * i + 20,
                    "dur": 10, "args": {"correlation": i}},
                   {"ph": "X", "cat": "kernel", "name": HOSTILE + "'\u202e", "pid": 0, "tid": 7, "ts": 1000 * i + 50, "dur": 400,
                    "args": {"device": 0, "stream": 7, "correlation": i}}]
    path.write_text(json.dumps({"traceEvents": events}))


def long_trace(path):
    with path.open("w") as out:
        out.write('{"traceEvents": [')
        for i in range(SLICES):
            out.write(f'{{"ph":"X","cat":"kernel","name":"k{i % 50}","pid":0,"tid":{i % 4},"ts":{i * 3},"dur":{1 + i % 7},'
                      f'"args":{{"device":0,"stream":{i % 4}}}}},\n')
        out.write('{"ph":"X","cat":"cpu_op","name":"last","pid":1,"tid":1,"ts":0,"dur":300000}]}')


def write_page(tscope, arguments, path):
    found = subprocess.run([tscope, *arguments, "--format", "html", "--output", path], capture_output=True, text=True)
    if found.returncode not in (0, 1):
        raise RuntimeError(f"tscope {' '.join(map(str, arguments))}: {found.stderr}")
    return path


def load_axe(browser):
    folder = os.environ.get("TSCOPE_VALIDATORS")
    if folder:
        browser.call("Runtime.evaluate", expression=pathlib.Path(folder, "axe.min.js").read_text())
    return bool(folder)


def check(browser, name, views, pictures):
    wrong = []
    path = pictures / (name + ".html")
    if browser.open(path) < 0:
        wrong.append("the page does not start")
    have = browser.ask("[...document.querySelectorAll('.view')].map(v => v.id.replace(/^p\\d+-/, ''))") or []
    wrong += [f"no picture {view}, only {have}" for view in views if view not in have]
    for script, good in ((SORTED, "sorted"), (FILTERED, "filtered"), (ZOOMED, "zoomed")):
        if (result := browser.ask(script)) not in (good, "none"):
            wrong.append(str(result))
    if name == "memory-oom":
        wrong += [result for script, good in ((BY_SITE, "by site"), (ONE_AXIS, "one axis"))
                  if (result := browser.ask(script)) != good]
    for theme in ("dark", "light"):
        browser.ask(f"setTheme('{theme}')")
        wrong += [f"{theme}: {text}" for text in browser.ask(ACCESSIBLE)]
    if load_axe(browser):  # themes differ in colours alone, which were looked at
        wrong += browser.ask(AXE)
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    browser.open(path)
    if (result := browser.ask(NARROW)) != "narrow":
        wrong.append(result)
    wrong += browser.complaints
    browser.call("Emulation.clearDeviceMetricsOverride")
    return wrong


def name_of(command, inputs):
    return "-".join([command] + [pathlib.Path(i).stem for i in inputs])


def write_pages(tscope, testdata, work):
    """Name -> pictures that its page must have."""
    cases = {}
    for line, views in PAGES.items():
        command, *inputs = line.split()
        cases[name_of(command, inputs)] = views
        write_page(tscope, [command] + [testdata / i for i in inputs], work / (name_of(command, inputs) + ".html"))
    real = pathlib.Path(os.environ.get("TSCOPE_SHARED", testdata.resolve().parent.parent / "shared")) / "data"
    for line, views in REAL.items():
        command, pattern = line.split()
        path = next(iter(sorted(real.glob(pattern))), None) if real.is_dir() else None
        if path:
            cases["real-" + path.parts[-1]] = views
            write_page(tscope, [command, path], work / ("real-" + path.parts[-1] + ".html"))
    return cases


def main():
    if not shutil.which("chromium"):
        print("there is no chromium: pages are not looked at")
        return 77
    tscope, testdata = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tscope-page-", ignore_cleanup_errors=True) as folder:
        work = pathlib.Path(folder)
        cases = write_pages(tscope, testdata, work)
        hostile_trace(work / "hostile.json")
        write_page(tscope, ["trace", work / "hostile.json"], work / "hostile.html")
        cases["hostile"] = ["timeline", "tree"]
        long_trace(work / "long.json")
        write_page(tscope, ["trace", work / "long.json"], work / "long.html")
        browser = Browser(work / "profile")
        try:
            for name, views in cases.items():
                for text in check(browser, name, views, work):
                    print(f"{name}: {text}")
                    failed += 1
                if "TSCOPE_PICTURES" in os.environ and name.startswith(PICTURED):
                    keep_pictures(browser, pathlib.Path(os.environ["TSCOPE_PICTURES"]), name)
            browser.open(work / "hostile.html")
            for expression, wanted in TICKS.items():
                if (found := browser.ask(expression)) != wanted:
                    print(f"{expression}: {found}, not {wanted}")
                    failed += 1
            owned = browser.ask("document.title === 'owned' || document.querySelectorAll('img').length > 0 || !document.body.textContent.includes('onerror')")
            if owned:
                print("hostile: a name became markup")
                failed += 1
            load = browser.open(work / "long.html")
            frame, count = browser.ask(FRAMES), browser.ask("tscope.parts[0].timeline.count")
            print(f"{count} slices: loaded in {load:.0f} ms, a frame takes {frame:.1f} ms (median)")
            patience = 1 if os.environ.get("QUIET") else 10
            if count < SLICES or load > 2000 * patience or frame > 50 * patience:
                print("long: too slow, or slices are missing")
                failed += 1
        finally:
            browser.close()
    print(f"{len(cases)} pages: {failed} complaints")
    return 1 if failed else 0


def keep_pictures(browser, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        browser.ask(f"setTheme('{theme}')")
        browser.picture(folder / f"{name}-{theme}.png")
    browser.call("Emulation.setEmulatedMedia", media="print")
    browser.ask("setTheme('light')")
    browser.picture(folder / f"{name}-print.png")
    browser.call("Emulation.setEmulatedMedia", media="")
    browser.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    browser.ask("new Promise(done => setTimeout(done, 100))")
    browser.picture(folder / f"{name}-telephone.png")
    browser.call("Emulation.clearDeviceMetricsOverride")


if __name__ == "__main__":
    sys.exit(main())
