# SPDX-License-Identifier: MIT
"""Reads a trace as plainly as can be: the whole file, Python's json module, and a repair of the
single events that it refuses. Shares no idea with the program under test, so that the two can be
wrong only independently.
"""
import decimal
import json
import re
import shutil
import subprocess
import zipfile
import zlib

GZIP_MAGIC, ZSTD_MAGIC, ZIP_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"


class NotATrace(Exception):
    """The file holds no trace events, or cannot be read here."""


class Trace:
    """events: the elements of traceEvents; metadata: the other top-level keys."""

    def __init__(self, events, metadata, is_damaged=False):
        self.events = events
        self.metadata = metadata
        self.is_damaged = is_damaged


# ---- bytes ---------------------------------------------------------------------------------


def gunzip(data):
    """All members, until the data ends or is no gzip any more. Returns (bytes, is_cut)."""
    parts = []
    while data.startswith(GZIP_MAGIC):
        member = zlib.decompressobj(wbits=31)
        parts.append(member.decompress(data))
        if not member.eof:
            return b"".join(parts), True
        data = member.unused_data
    return b"".join(parts), False


def read_bytes(path):
    """The decompressed bytes of a file, and whether its stream is cut short."""
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(GZIP_MAGIC):
        return gunzip(data)
    if data.startswith(ZIP_MAGIC):
        with zipfile.ZipFile(path) as archive:
            return archive.read(archive.namelist()[0]), False
    if data.startswith(ZSTD_MAGIC):
        if not shutil.which("zstd"):
            raise NotATrace("no zstd program")
        done = subprocess.run(["zstd", "-dc", str(path)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return done.stdout, done.returncode != 0
    return data, False


# ---- JSON ----------------------------------------------------------------------------------

# Numbers with a fraction stay text: a double cannot hold a time of today to the ns.
DECODER = json.JSONDecoder(strict=False, parse_float=str, parse_constant=str)
BARE_WORD = re.compile(r"(?<=[:\[,])(\s*)(N/A|-?nan|-?inf)(?=\s*[,}\]])", re.IGNORECASE)
TRAILING_COMMA = re.compile(r",(\s*[}\]])")
CLOSES_A_STRING = re.compile(r"\s*([,:}\]]|$)")
BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')


def split_element(text, at):
    """The JSON element at text[at:] as a list of (is_string, text), and its end, or None if cut.

    A quote closes a string only where one of , : } ] or the end follows.
    """
    parts, depth, start, position = [], 0, at, at
    while position < len(text):
        character = text[position]
        if character == '"':
            parts.append((False, text[start:position]))
            end = position + 1
            while end < len(text) and not (text[end] == '"'
                                           and CLOSES_A_STRING.match(text, end + 1)):
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                return None
            parts.append((True, text[position + 1:end]))
            start = position = end + 1
            continue
        position += 1
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                parts.append((False, text[start:position]))
                return parts, position
    return None


def requoted(part):
    """The inside of a string with its quotes, and with what JSON wants escaped."""
    return '"' + re.sub(r'(?<!\\)"', r'\\"', BAD_ESCAPE.sub(r"\\\\", part)) + '"'


def repaired_element(text, at):
    """Decodes the element at text[at:] after repairing it. Returns (value, end) or None."""
    split = split_element(text, at)
    if not split:
        return None
    parts, end = split
    json_text = "".join(requoted(part) if is_string else part for is_string, part in parts)
    # Both only ever match outside strings of real traces; a name such as "a,}" would be spoilt.
    json_text = TRAILING_COMMA.sub(r"\1", BARE_WORD.sub(r"\1null", json_text))
    try:
        return DECODER.decode(json_text), end
    except ValueError:
        return None, end


def decode_elements(text, at):
    """Elements of the array whose inside begins at text[at:], its end, and whether it is cut."""
    elements = []
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text):
            return elements, at, True
        if text[at] == "]":
            return elements, at + 1, False
        try:
            element, at = DECODER.raw_decode(text, at)
        except ValueError:
            repaired = repaired_element(text, at)
            if not repaired:
                return elements, len(text), True
            element, at = repaired
        elements.append(element)


def decode_members(text):
    """As many members of an object as can be had."""
    try:
        return DECODER.raw_decode("{" + text.strip().strip(",") + "}")[0]
    except ValueError:
        pass
    try:
        return DECODER.raw_decode("{" + text.lstrip(" \t\r\n,"))[0]
    except ValueError:
        return {}


def decode_damaged(text):
    """A trace that json refuses as a whole."""
    head = re.search(r'"traceEvents"\s*:\s*\[', text)
    if text.startswith("["):
        before, at = "", 1
    elif head:
        before, at = text[1:head.start()], head.end()
    else:
        raise NotATrace("no traceEvents")
    events, end, is_cut = decode_elements(text, at)
    metadata = decode_members(before)
    metadata.update(decode_members(text[end:]))
    return Trace(events, metadata, is_cut)


def read(path):
    data, is_cut = read_bytes(path)
    text = data.decode("utf-8-sig", errors="replace").lstrip()
    try:
        document, _ = DECODER.raw_decode(text)
    except ValueError:
        trace = decode_damaged(text)
    else:
        if isinstance(document, list):
            trace = Trace(document, {})
        elif isinstance(document, dict) and isinstance(document.get("traceEvents"), list):
            trace = Trace(document.pop("traceEvents"), document)
        else:
            raise NotATrace("no traceEvents")
    trace.is_damaged |= is_cut
    return trace


# ---- values --------------------------------------------------------------------------------


def to_ns(value):
    """Microseconds as the file has them (int or text) to ns; None for what is no number."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        exact = decimal.Decimal(str(value)) * 1000
        ns = int(exact.to_integral_value(decimal.ROUND_HALF_UP))
    except (decimal.InvalidOperation, ValueError, OverflowError):
        return None
    return ns if abs(ns) < 2**63 else None


def to_int(value):
    """An integer, quoted or not; None for what is none."""
    try:
        return None if isinstance(value, (bool, float)) else int(value)
    except (TypeError, ValueError):
        return None
