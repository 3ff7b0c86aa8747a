# SPDX-License-Identifier: MIT
"""The archives of this folder: traces of two ranks, and what else archives have. make.py writes
them; README.md says what is true of them."""
import io
import pathlib
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
RANKS = ["ranks_slow_host/rank0.pt.trace.json.gz", "ranks_slow_host/rank2.pt.trace.json.gz"]


def entry(name, data=b"", link=None):
    made = tarfile.TarInfo(name)
    made.size, made.mtime, made.mode = len(data), 1700000000, 0o644
    if link:
        made.type, made.linkname = tarfile.SYMTYPE, link
    return made, io.BytesIO(data)


def files():
    """The members are as they stand here: other versions of a compressor would write them otherwise."""
    made = {name: (HERE / name).read_bytes() for name in RANKS}
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(*entry("job/README.md", b"Made here.\n"))
        for name in reversed(RANKS):
            archive.addfile(*entry(name.replace("ranks_slow_host", "job"), made[name]))
        archive.addfile(*entry("job/latest.json.gz", link="rank2.pt.trace.json.gz"))
        archive.addfile(*entry("../rank1.pt.trace.json.gz", made[RANKS[0]]))
    with zipfile.ZipFile(zipped, "w") as archive:
        for name in RANKS:
            about = zipfile.ZipInfo(name.split("/")[1], (2023, 11, 14, 22, 13, 20))
            archive.writestr(about, made[name])
    return {"archive.tar": tar.getvalue(), "archive.zip": zipped.getvalue()}
