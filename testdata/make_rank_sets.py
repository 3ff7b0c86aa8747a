# SPDX-License-Identifier: MIT
"""The sets ranks_* of this folder: all ranks of a job in which one thing is wrong. make.py writes
them; README.md says what is true of them."""
import gzip
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/reference"))

import make_ranks  # noqa: E402: found by the line above

SMALL = "--steps 10 --layers 1 --buckets 2 --compact"
SETS = {
    "ranks_slow_host": "--ranks 4 --fault slow_host --fault-rank 2 --fault-size 0.2",
    "ranks_slow_loader": "--ranks 4 --fault slow_loader --fault-rank 1 --fault-size 0.2",
    "ranks_more_work": "--ranks 4 --fault more_work --fault-rank 3 --fault-size 0.2",
    "ranks_slow_link": "--ranks 6 --plan tp --tensor 2 --host-ranks 2 "
                       "--fault slow_link --fault-group tp2 --fault-size 1",
    "ranks_pipeline": "--ranks 4 --plan pp --stages 4 --microbatches 4 --steps 4 "
                      "--fault larger_work --fault-rank 3 --fault-size 0.6",
    "ranks_experts": "--ranks 4 --plan ep --expert-skew 2 --steps 6",
}


def files():
    """Without truth.json, which is for the generator's own tests."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in SETS.items():
            make_ranks.make(pathlib.Path(folder) / name, f"{SMALL} {options}".split())
            for path in sorted((pathlib.Path(folder) / name).glob("rank*")):
                found[f"{name}/{path.name}.gz"] = gzip.compress(path.read_bytes(), mtime=0)
    return found
