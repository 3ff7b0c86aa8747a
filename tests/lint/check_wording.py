#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the words of program, manuals and comments against phrases that nobody in the field says,
and their spelling against codespell's list, where codespell is installed.

usage: check_wording.py SOURCE_ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys

# Each with what to write instead.
EVERYWHERE = (
    (r"only communicates", "exposed (non-overlapped) communication"),
    (r"of the step after the median rank", "rank N reaches collectives X ms after the median rank"),
    (r"time of its own than", "local time"),
    (r"do not prove to be", "too few to be certain"),
    (r"there (is|are) .{1,20} whole steps?", "complete steps"),
    (r"slowest behind median|by compute alone|arrive within|clocks agree to",
     "slowest rank vs median, compute only, arrival spread, clock error"),
    (r"full cell", "legend: full block"),
    (r"gain a step, by", "simulated saving per step"),
    (r"outside some capture|on one rank alone", "collectives missing on some ranks"),
    (r"launched by none", "no launching operator"),
    (r"with fewer blocks than SMs", "smaller than the GPU"),
    (r"MFU at least", "MFU >= X, or unknown"),
    (r"says its FLOPs", "no shapes recorded; use record_shapes=True"),
    (r"no device ran", "CPU-only trace"),
    (r"peak-tflops tells", "pass its peak with --peak-tflops"),
    (r"does not name the device", "unknown device"),
    (r"would it have passed", "would the allocation have succeeded"),
    (r"flushed its cache to find memory", "allocation retries"),
    (r"since what .{1,30} contradicts itself", "their files cannot belong to one job"),
    (r"[Aa] gate says|says what must not be", "a gate is a condition that fails the job"),
    (r"queued behind other work|idle time owed to", "host-caused idle"),
    (r"uneven work among", "load imbalance"),
    (r"of it, while none does", "exposed: no compute kernel runs"),
    (r"%s is no option|is no option of", "--X only works with tscope Y"),
    (r"\bLACKING\b", "exist only in A"),
)
# What only comments can say, as it was written once.
COMMENTS = (
    (r"What findings are about: of those", "root cause of a finding"),
    (r"The same where (a fact is absent|it is absent)", "returns true if the fact is present"),
    (r"Is it so, where", "order: <0, 0, >0"),
    (r"the more they tell of", "preference"),
    (r"for what puts a run together", "internal API"),
    (r"would be no number any more", "overflows"),
    (r"the way goes back", "backward cursor"),
    (r"tell by themselves where one ends", "self-delimiting"),
)
# How no comment begins, and words that none has: what it means must stand in the comment itself.
BEGINNINGS = (
    (r"Of (?!course)", "say what it is: \"The largest of …\", \"For …\""),
    (r"The same\b", "say what it does; the reader has not read the comment above"),
)
WORDS = (
    (r"\bWhat\b", "begin with its noun or verb: \"Inputs of operator calls\", \"Names the culprit\""),
    (r"\b[Tt](?:ells?|old)\b", "state, show, report, distinguish"),
)
BEFORE_NAMES = re.compile(r"\b(?:tsi_)?(?:tell_\w+|of_\w+|is_so(?:_\w+)?|is_told\w*|told)\b")
COMMENT = re.compile(r"/\*(.*?)\*/", re.DOTALL)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
FOLDERS = ("src", "include", "man", "README.md", "NEWS.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
SUFFIXES = (".c", ".h", ".md", ".1", ".5", ".7")
JOINED_LITERAL = re.compile(r'"\s*\n\s*"')
JOINED_COMMENT = re.compile(r"\n\s*\* ")
# Words that codespell takes for others.
IGNORED_WORDS = "als,ans,ba,fo,hist,inout,nd,nin,ot,parms,sade,te,ue,mis,ths,numer,copys,halfs,loadi"


def files_of(root):
    for folder in FOLDERS:
        path = root / folder
        if path.is_file():
            yield path
        else:
            yield from sorted(p for p in path.rglob("*") if p.suffix in SUFFIXES)


def joined(text):
    """The text with sentences on one line that literals and comments break."""
    return JOINED_COMMENT.sub(" ", JOINED_LITERAL.sub("", text))


def phrases_in(root):
    """Yields what to mend, a line each."""
    for path in files_of(root):
        text = joined(path.read_text())
        for phrase, better in EVERYWHERE + COMMENTS:
            for found in re.finditer(phrase, text):
                yield f'{path.relative_to(root)}: "{found[0]}"; write like "{better}"'


def odd_code_in(root):
    """Comments that lean on others, and names in the style of old."""
    for folder in ("src", "include"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            text = path.read_text()
            for comment in COMMENT.findall(text):
                sentence = re.sub(r"\s*\n\s*\*\s*", " ", comment).strip(" *\n\t")
                for beginning, better in BEGINNINGS:
                    if re.match(beginning, sentence):
                        yield f'{path.relative_to(root)}: "{sentence[:60]}": {better}'
                for word, better in WORDS:
                    for found in re.finditer(word + r".{,40}", sentence):
                        yield f'{path.relative_to(root)}: "{found[0]}": {better}'
            code = LITERAL.sub("", COMMENT.sub("", text))
            for name in sorted(set(BEFORE_NAMES.findall(code))):
                yield f"{path.relative_to(root)}: {name}: describe_, shown, satisfies, by_ say it"


def misspelt_in(root):
    program = shutil.which("codespell")
    if not program:
        print("codespell is not installed: spelling was not checked")
        return []
    done = subprocess.run([program, "--ignore-words-list", IGNORED_WORDS, "--quiet-level", "3",
                           *(str(path) for path in files_of(root))],
                          check=False, capture_output=True, text=True)
    return done.stdout.splitlines()


def main():
    root = pathlib.Path(sys.argv[1])
    problems = [*phrases_in(root), *odd_code_in(root), *misspelt_in(root)]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
