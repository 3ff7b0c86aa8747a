#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Spells the words of README, NEWS, the manual and all strings of the program with aspell.

usage: check_spelling.py SOURCE_ROOT

What is no word of English stands in words.txt beside this file, one a line, in alphabetical order.
"""
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
DOCUMENTS = ("README.md", "NEWS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"(?:\s*"((?:[^"\\\n]|\\.)*)")*')
PIECE = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CONVERSION = re.compile(r"%[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z%]|\\[nte\"\\]|\\x..")
# Code, names, paths, options, numbers with units, what stands in backquotes.
CODE = re.compile(r"`[^`]*`|\S*[_/\\=<>$@{}\[\]()|#*:~+]\S*|--?[a-z]\S*|\S*\w\.\w\S*|\S*\d\S*|\w*[A-Z]\w*|&\w+;")
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
# Sentences have at least so many words; shorter literals are names, keys and formats.
MIN_WORDS = 3
FENCE = re.compile(r"^(?:```.*?^```|    .*?$)", re.DOTALL | re.MULTILINE)
LISTING = re.compile(r"^\.Bd -literal.*?^\.Ed", re.DOTALL | re.MULTILINE)
# Macros whose arguments are prose.
PROSE = (".Em", ".Sy", ".Sh", ".Ss", ".Nd", ".Pq", ".Dq")
TABLE_ROW = re.compile(r"^\.It \S+ Ta \S+ Ta ")


def prose_of_page(text):
    for line in LISTING.sub("", text).splitlines():
        row = TABLE_ROW.match(line)
        if row:
            yield line[row.end():]
        elif not line.startswith(".") or line.startswith(PROSE):
            yield re.sub(r"\\\[\w+\]|\\f.|\\\W", " ", line)


def texts(root):
    """(where, text) of all that people read."""
    for name in DOCUMENTS:
        yield name, FENCE.sub("", (root / name).read_text())
    for page in sorted((root / "man").glob("*.[157]")) + sorted((root / "man").glob("*.3")):
        yield page.name, "\n".join(prose_of_page(page.read_text()))
    for path in sorted((root / "src").rglob("*.[ch]")):
        code = COMMENT.sub("", path.read_text())
        for found in LITERAL.finditer(code):
            text = "".join(PIECE.findall(found[0]))
            if len(text.split()) >= MIN_WORDS:
                yield str(path.relative_to(root)), CONVERSION.sub("_", text)


def words_of(text):
    return set(WORD.findall(CODE.sub(" ", text)))


def main():
    root = pathlib.Path(sys.argv[1])
    listed = (pathlib.Path(__file__).parent / "words.txt").read_text().split()
    if not shutil.which("aspell"):
        print("aspell is not installed: words were not spelt")
        return SKIPPED
    places = {}
    for where, text in texts(root):
        for word in words_of(text):
            places.setdefault(word, where)
    done = subprocess.run(["aspell", "list", "--lang=en", "--encoding=utf-8"], check=False,
                          input="\n".join(places), capture_output=True, text=True)
    if done.returncode != 0:
        print("aspell has no English dictionary (aspell-en): words were not spelt")
        return SKIPPED
    unknown = sorted(set(done.stdout.split()) - set(listed))
    for word in unknown:
        print(f"{places.get(word, '?')}: \"{word}\": mend it, or add it to tests/lint/words.txt")
    stale = [word for word in listed if word not in places]
    for word in stale:
        print(f"words.txt: \"{word}\" is no longer used")
    if listed != sorted(listed):
        print("words.txt: not in alphabetical order")
    print(f"# {len(places)} words, {len(unknown)} unknown")
    return 1 if unknown or stale or listed != sorted(listed) else 0


if __name__ == "__main__":
    sys.exit(main())
