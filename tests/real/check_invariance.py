#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One trace, one report: however it is packed, piped, cut into blocks or spread over threads, the
report is the same to the byte. And a trace that is cut anywhere gives a report or a precise error.

usage: check_invariance.py TSCOPE
"""
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import program

BLOCK_SIZES = (1, 2, 3, 64, 4096)
PACKINGS = ("plain", "gz", "zst")  # the others are read once
OURS = ("two_steps.json", "era_a.json", "era_d.json", "rocm.json", "cpu_only.json",
        "chrome_phases.json", "unescaped_quotes.json", "bare_array_cut.json")
SHARED = (
    "facebookresearch+HolisticTraceAnalysis/tests/data/trace_compare/base/base.json.gz",
    "facebookresearch+HolisticTraceAnalysis/tests/data/critical_path/cuda_event_sync/"
    "event_sync_trace.json.gz",
    "pytorch+kineto/@5b7b13c334/docs/traces/after_fix_trace.json",
    "pytorch+benchmark/@33817dccc0/trace.json",
    "derived/windows-backslash.json",
    "derived/bom.json",
    "derived/nonfinite.json",
    "made-here/a.json",
)
# Small: these are cut at every byte.
CUT = (program.TESTDATA / "chrome_phases.json",
       program.SOURCE_ROOT / "tests/fuzz/corpus/trace/step")
GOOD_EXITS = (0, 3)


def read_plain(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def pack_zstd(data):
    return subprocess.run(["zstd", "-q", "-3", "-c"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def packings(data):
    """Name → the bytes as they would lie in a file."""
    half = len(data) // 2
    packed = {
        "plain": data,
        "gz": gzip.compress(data, mtime=0),
        "gz members": gzip.compress(data[:half], mtime=0) + gzip.compress(data[half:], mtime=0),
    }
    if shutil.which("zstd"):
        packed["zst"] = pack_zstd(data)
        packed["zst frames"] = pack_zstd(data[:half]) + pack_zstd(data[half:])
        packed["gz in zst"] = pack_zstd(packed["gz"])
    return packed


def neutral(done, form):
    """A run's outcome without what may differ: the name, the compression and its size."""
    output = done.stdout.decode(errors="replace")
    if form == "json" and output:
        report = json.loads(output)["runs"][0]
        for source in report["inputs"]:
            del source["path"], source["compression"], source["source_bytes"]
        report["facts"].get("integrity", {}).pop("path", None)
        for place in (place for finding in report["findings"] for place in finding["at"]):
            del place["file"]
        output = json.dumps(report)
    elif form == "text":
        output = output[output.find("●"):]  # what comes before is the header
    return done.returncode, output


def variations(packing):
    """What is varied of a packing → arguments. "" stands for none, "-" for standard input."""
    yield "", ()
    if packing in PACKINGS:
        yield "-", ()
        yield from ((f"{count} threads", ("--threads", count)) for count in (1, 2))
        yield from ((f"blocks of {size}", ("--block-size", size)) for size in BLOCK_SIZES)


def outcomes(tscope, folder, data):
    """Yields (format, what was varied, outcome) for each way to give the same trace."""
    path = folder / "trace"
    for packing, stored in packings(data).items():
        path.write_bytes(stored)
        done = tscope.run("trace", path)
        yield "text", packing, neutral(done, "text")
        for what, arguments in variations(packing):
            source = {"input": stored} if what == "-" else {}
            done = tscope.run("trace", "--format", "json", "--full", *arguments, "-" if source else path,
                              **source)
            yield "json", f"{packing} {what}", neutral(done, "json")


def check_alike(tscope, results, folder, path):
    first = {}
    for form, what, outcome in outcomes(tscope, folder, read_plain(path)):
        expected = first.setdefault(form, outcome)
        results.check(f"{program.short(path)} {form} {what}", True, expected == outcome)
    results.check(program.short(path) + " has a report", 0, first["json"][0])


def check_cuts(tscope, results, folder, label, stored):
    """Each prefix of a file: exit 0 or 3, a message where it is 3, never a signal."""
    path = folder / "cut"
    for size in range(len(stored)):
        path.write_bytes(stored[:size])
        done = tscope.run("trace", "--format", "json", "--full", path)
        message = done.stderr.decode(errors="replace")
        is_fine = done.returncode in GOOD_EXITS and "Sanitizer" not in message
        if done.returncode == 3:
            is_fine = is_fine and re.match(r"tscope: .+: .+", message) is not None
        results.check(f"{label} cut at {size}: exit {done.returncode}: {message[:300]}",
                      True, is_fine)


def main():
    tscope = program.Program(pathlib.Path(sys.argv[1]))
    results = program.Results()
    paths = [program.TESTDATA / name for name in OURS]
    paths += [program.DATA / name for name in SHARED if (program.DATA / name).exists()]
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            check_alike(tscope, results, pathlib.Path(folder), path)
        for path in CUT:
            packed = packings(read_plain(path))
            for packing in filter(packed.get, PACKINGS):
                check_cuts(tscope, results, pathlib.Path(folder), f"{path.name} {packing}",
                           packed[packing])
    return results.exit_status()


if __name__ == "__main__":
    sys.exit(main())
