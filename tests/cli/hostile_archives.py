#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives that lie, end early, or hold what nobody can read: each such member is named with what
is wrong, the others are read, and nothing is ever written.

usage: hostile_archives.py TSCOPE TESTDATA
"""
import io
import json
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

MIB = 1 << 20


def run(program, *arguments, stdin=None):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, check=False, input=stdin)


def tar(path, members, mode="w"):
    """members: name, and bytes, or a function that makes more of the entry."""
    with tarfile.open(path, mode) as archive:
        for name, what in members:
            entry = tarfile.TarInfo(name)
            data = what if isinstance(what, bytes) else b""
            if callable(what):
                what(entry)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def link_to(target, kind=tarfile.SYMTYPE):
    def make(entry):
        entry.type, entry.linkname = kind, target
    return make


def of_kind(kind):
    def make(entry):
        entry.type = kind
    return make


def zipped(path, members, encrypted=()):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    if encrypted:
        data = bytearray(path.read_bytes())
        for name in encrypted:
            local = data.index(b"PK\x03\x04", max(0, data.index(name.encode()) - 30))
            central = data.index(b"PK\x01\x02", data.rindex(name.encode()) - 46)
            data[local + 6] |= 1
            data[central + 8] |= 1
        path.write_bytes(data)
    return path


def sparse(folder, data):
    """What GNU tar makes of a file of which most is a hole; None without it."""
    with open(folder / "rank9.json", "wb") as file:
        file.write(data[:-100])
        file.seek(1 << 40)
        file.write(data[-100:])
    made = subprocess.run(["tar", "-S", "-cf", folder / "sparse.tar", "-C", folder, "rank9.json"], check=False)
    (folder / "rank9.json").unlink()
    return folder / "sparse.tar" if made.returncode == 0 else None


class Checker:
    def __init__(self, program):
        self.program, self.problems, self.count = program, [], 0

    def report(self, what, path, ranks, said, code=3, stdin=None):
        """ranks: how many are read; said: of each file that is left out, and of the program."""
        done = run(self.program, "report", "--strict", "--verbose", "--format", "json",
                   "-" if stdin else path, stdin=stdin)
        text = done.stderr.decode(errors="replace")
        document = json.loads(done.stdout) if done.stdout else {"runs": []}
        text += json.dumps(document, ensure_ascii=False)
        read = sum(len(one["ranks"]) for one in document["runs"])
        self.count += 1
        if done.returncode != code or read != ranks:
            self.problems.append(f"{what}: exit {done.returncode}, {read} ranks: {text[:300]}")
        self.problems += [f"{what}: does not say {words!r}: {text[-1500:]}" for words in said if words not in text]


def check_names(check, folder, rank):
    check.report("names", tar(folder / "names.tar", [
        ("rank0.json", rank(0)), ("../rank1.json", rank(1)), ("a/../../rank2.json", rank(2)),
        ("/abs/rank3.json", rank(3)), ("./rank4.json", rank(4)), ("", rank(5)),
        ("/".join("d" * 40) + "/rank6.json", rank(6)), ("x" * 9000, rank(7)),
    ]), 3, ["names.tar/../rank1.json", "leads out of the archive", "limit: folders around a member",
            "limit: name of a member", "names.tar/abs/rank3.json"])
    check.report("control characters", tar(folder / "control.tar", [("rank0.json", rank(0)), ("\x1b[31mrank1.json", rank(1))]),
                 2, ["\\u001b[31mrank1.json"], 0)
    check.report("the same name twice", tar(folder / "twice.tar", [
        ("rank0.json", b"{}"), ("rank1.json", rank(1)), ("rank0.json", rank(0))]),
        2, ["a later member of the archive has the same name"], 0)
    check.report("file and folder", tar(folder / "both.tar", [
        ("rank0.json", rank(0)), ("rank0.json/rank1.json", rank(1)), ("d/rank2.json", rank(2)), ("d", rank(3))]),
        2, ["it lies in what is a file as well", "a file that is a folder as well"])
    check.report("links", tar(folder / "links.tar", [
        ("rank0.json", rank(0)), ("latest.json", link_to("rank0.json")),
        ("b/rank1.json", rank(1)), ("b/up.json", link_to("../rank0.json")), ("early.json", link_to("b/rank1.json")),
        ("hard.json", link_to("b/rank1.json", tarfile.LNKTYPE)), ("pipe", of_kind(tarfile.FIFOTYPE)),
        ("dev", of_kind(tarfile.CHRTYPE))]), 2, ["which is read itself"], 0)
    check.report("links out", tar(folder / "out.tar", [
        ("rank0.json", rank(0)), ("rank1.json", link_to("/etc/passwd")), ("rank2.json", link_to("../../rank0.json"))]),
        1, ["a link to /etc/passwd, which the archive does not hold"])


def check_contents(check, folder, rank):
    inner = tar(folder / "inner.tar", [("rank1.json", rank(1))]).read_bytes()
    check.report("nested", tar(folder / "nested.tar", [("rank0.json", rank(0)), ("more.tar", inner)]),
                 1, ["nested.tar/more.tar", "tar archive: unpack it first"])
    check.report("encrypted", zipped(folder / "secret.zip", [("rank0.json", rank(0)), ("rank1.json", rank(1))], ["rank1.json"]),
                 1, ["secret.zip/rank1.json", "encrypted"])
    bomb = zipped(folder / "bomb.zip", [("rank0.json", b"[" + b" " * 200 * MIB)])
    check.report("zip bomb", bomb, 0, ["limit: decompression ratio"])
    whole = tar(folder / "whole.tar", [(f"rank{i}.json", rank(i)) for i in range(3)]).read_bytes()
    size = len(rank(0))
    for cut in (100, 600, 512 + size // 2, 512 + size, len(whole) // 2, len(whole) // 2 + 200):
        (folder / "cut.tar").write_bytes(whole[:cut])
        done = run(check.program, "report", "--strict", folder / "cut.tar")
        streamed = run(check.program, "report", "--strict", "-", stdin=whole[:cut])
        check.count += 2
        check.problems += [f"cut at {cut}: exit {got.returncode}: {got.stderr[:300]!r}"
                           for got in (done, streamed) if got.returncode != 3 or not got.stderr]
    check.report("cut in a member", folder / "cut.tar", 2, ["the archive ends inside it"])
    check.report("empty zip", zipped(folder / "empty.zip", []), 0, ["zip archive (empty)"])
    (folder / "cut.zip").write_bytes(bomb.read_bytes()[:-30])
    check.report("a zip without its end", folder / "cut.zip", 0, ["stands at its end, cannot be found"])
    check.report("zip through a pipe", bomb, 0, ["zip archive: its list of members stands at its end"],
                 stdin=bomb.read_bytes())
    torch = zipped(folder / "model.pt", [("archive/data.pkl", b"\x80\x02}q\0."), ("archive/data/0", struct.pack("<4f", 1, 2, 3, 4))])
    check.report("a checkpoint", torch, 0, ["holds nothing to analyse"])
    hole = sparse(folder, rank(0))
    if hole:
        check.report("a hole of a tebibyte", hole, 1, ["limit: bytes kept of archives"])


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    if "libarchive: not built in" in run(program, "--version").stdout.decode():
        return 77
    base = json.loads((pathlib.Path(sys.argv[2]) / "two_steps.json").read_text())

    def rank(number):
        base["distributedInfo"]["rank"] = number
        base["distributedInfo"]["world_size"] = 2
        return json.dumps(base).encode()

    check = Checker(program)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_names(check, folder, rank)
        check_contents(check, folder, rank)
    for problem in check.problems:
        print(problem)
    print(f"{check.count} archives, {len(check.problems)} problems")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
