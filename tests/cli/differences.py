# SPDX-License-Identifier: MIT
"""Where two JSON documents that should say the same do not."""


def between(a, b, way, place=""):
    """way: how the second was made, in a word."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            yield from between(a.get(key, "absent"), b.get(key, "absent"), way, f"{place}/{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (left, right) in enumerate(zip(a, b)):
            yield from between(left, right, way, f"{place}/{i}")
    elif a != b:
        yield f"{place}: {str(a)[:100]!r} directly, {str(b)[:100]!r} {way}"
