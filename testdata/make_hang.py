# SPDX-License-Identifier: MIT
"""Flight-recorder dumps of jobs that hang. make.py writes them; README.md says what each shows."""
import json
import pathlib
import pickle
import random
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/reference"))

import hang_jobs  # noqa: E402: found by the line above

PLAN = {"steps": 2, "layers": 1, "depth": 1, "has_experts": False, "has_gather": False,
        "coalesced": False, "timing": False}


def writer_of(job, **settings):
    writer = hang_jobs.Writer(random.Random(1), job)
    writer.__dict__.update({"version": "2.9", "is_json": False, "protocol": 2, "has_frames": True,
                            "capacity": None, "rank_inside": False, "backend": "nccl",
                            "is_old": False}, **settings)
    return writer


def dumps(folder, job, drop=(), **settings):
    writer = writer_of(job, **settings)
    files = {}
    for rank in range(job.world):
        if rank in drop:
            continue
        if writer.is_json:
            files[f"{folder}/rank_{rank}.json"] = writer.texts(writer.dump(rank))
        else:
            files[f"{folder}/nccl_trace_rank_{rank}"] = pickle.dumps(writer.dump(rank),
                                                                    protocol=2)
    return files


def call_of(job, rank, group, name):
    """The last call of this name."""
    return [c for c in job.programs[rank] if c.group.desc == group and c.name == name][-1]


def missing_call():
    """Rank 6 of two tensor-parallel groups stops before its last all_reduce."""
    job = hang_jobs.Job(random.Random(2), 8, tp=4, pp=1, **PLAN)
    call_of(job, 6, "tp", "all_reduce").never = True
    job.run()
    return dumps("hang_missing_call", job)


def size():
    """Rank 1 reduces more elements than the others; JSON of a ring buffer."""
    job = hang_jobs.Job(random.Random(3), 3, tp=1, pp=1, **PLAN)
    call = call_of(job, 1, "dp", "_all_gather_base")
    call.inputs, call.outputs = [4112], [3 * 4112]
    job.run()
    return dumps("hang_size", job, is_json=True, capacity=4)


def order():
    """Rank 1 calls the world's all_reduce before its group's all_gather."""
    job = hang_jobs.Job(random.Random(4), 4, tp=1, pp=1, **PLAN)
    program = job.programs[1]
    program[-1], program[-2] = program[-2], program[-1]
    job.run()
    return dumps("hang_order", job, has_frames=False)


def no_dump():
    """Stage 1 of a pipeline died."""
    job = hang_jobs.Job(random.Random(5), 2, tp=1, pp=2, **dict(PLAN, coalesced=True))
    job.programs[1][5].never = True
    job.run()
    return dumps("hang_no_dump", job, drop={1}, version="2.4")


def clean():
    job = hang_jobs.Job(random.Random(6), 2, tp=1, pp=1, **dict(PLAN, timing=True))
    job.run()
    job.heads = [len(p) - 1 for p in job.programs]
    files = dumps("hang_clean", job, has_frames=False)
    files["hang_clean/notes.json"] = json.dumps({"entries": []}).encode()
    return files


def files():
    return {**missing_call(), **size(), **order(), **no_dump(), **clean()}
