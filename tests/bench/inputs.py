# SPDX-License-Identifier: MIT
"""What the benches read: traces of the shared generator, packed or in other layouts, and the
largest real traces. Each is made where it is missing, and kept.
"""
import gzip
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "real"))
import layouts  # noqa: E402 (found by the path above)
import program  # noqa: E402

GENERATE = ["--python-stack", "--record-shapes", "--memory", "--flops", "--events-per-step", "25000",
            "--layout", "hta"]
GENERATE_RANKS = ["--ranks", "8", "--size", "200M", "--straggler", "5:9", "--dataloader-stall",
                  "2:6", "--comm-fraction", "0.25", "--layout", "hta"]
PACKERS = {"gz": ["gzip", "-6", "-c"], "zst": ["zstd", "-q", "-3", "-c"]}
MEMBERS = 8  # of a file that several programs, or one in several threads, compressed

# Of each project the largest. The first is the one that is timed packed, too.
REAL_TRACES = [
    "facebookresearch+HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz",
    "AMD-AGI+TraceLens/tests/traces/inference/xdit_flux.1/capture_traces/"
    "capture_trace_rank_0.json.gz",
    "AMD-AGI+TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz",
    "facebookresearch+HolisticTraceAnalysis/tests/data/df_index_resolver/df_index_resolver.json.gz",
    "pytorch+kineto/@383a066433/tb_plugin/samples/resnet50_num_workers_0/"
    "worker0.1623143566756.pt.trace.json.gz",
    "CodingPlatelets+SwitchTransformers/@0c4a673dce/trace.json",
    "harryjmoss+particle_transformer/tensorboard_logs_forward_2024_12_09/batch_size_64/"
    "hmoss-6a49xb_1986400.1733769503264977721.pt.trace.json",
]


def make(target, writer):
    """Calls writer with a path to write to, and renames what is complete."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        writer(partial)
        partial.rename(target)
    return target


def run_into(path, command):
    with open(path, "wb") as file:
        subprocess.run(command, stdout=file, check=True)


# ---- generated traces ----------------------------------------------------------------------


class Trace:
    """One generated trace, and what the generator knows of it."""

    def __init__(self, folder, truth):
        self.folder, self.truth = folder, truth
        self.plain = folder / truth["file"]
        self.packed_folder = folder.parent / f"{folder.name}-packed"
        self.size, self.events = truth["bytes"], truth["events"]["total"]

    def packed(self, ending):
        """The file, compressed as one member; None where the compressor is missing."""
        beside = self.plain.with_name(f"{self.plain.name}.{ending}")
        if ending == "plain" or beside.exists():
            return self.plain if ending == "plain" else beside
        return self.pack(beside.name, ending,
                         lambda path: run_into(path, [*PACKERS[ending], self.plain]))

    def packed_in_parts(self, ending):
        """The file as several members or frames."""
        return self.pack(f"{self.plain.name}.parts.{ending}", ending,
                         lambda path: self.pack_parts(path, PACKERS[ending]))

    def pack(self, name, ending, writer):
        if not shutil.which(PACKERS[ending][0]):
            return None
        return make(self.packed_folder / name, writer)

    def pack_parts(self, path, packer):
        length = -(-self.size // MEMBERS)
        with open(path, "wb") as target:
            for number in range(MEMBERS):
                part = subprocess.Popen(
                    ["sh", "-c", f'tail -c +{number * length + 1} "$1" | head -c {length} | '
                     f'{" ".join(packer)}', "sh", self.plain], stdout=target)
                if part.wait() != 0:
                    raise RuntimeError(f"{path}: not written")


def generate(folder, options):
    """The folder's truth; the generator is run where there is none."""
    if not (folder / "truth.json").exists():
        generator = program.need(program.SHARED / "tools" / "gen_trace.py")
        subprocess.run([sys.executable, generator, folder, *options], check=True)
    return json.loads((folder / "truth.json").read_text())


def trace(folder, size):
    return Trace(folder, generate(folder, ["--size", size, *GENERATE])["ranks"][0])


def ranks(folder):
    """The traces of eight ranks, and which of them are late: slow ones and those that stall."""
    truth = generate(folder, GENERATE_RANKS)
    options = truth["meta"]["options"]
    slow = sorted(int(late.split(":")[0])
                  for late in options["straggler"] + options["dataloader_stall"])
    return [Trace(folder, rank) for rank in truth["ranks"]], slow


def shape(folder, name, count):
    """The trace of a shape of ours (shapes.py)."""
    return make(folder / f"{name}-{count}.json", lambda path: subprocess.run(
        [sys.executable, HERE / "shapes.py", name, str(count), path], check=True))


def many_small(folder, count):
    """A folder with a trace of each of so many ranks."""
    source = shape(folder.parent / "small", "training", 1).read_text(encoding="ascii")
    for rank in range(count):
        info = f'"distributedInfo": {{"backend": "nccl", "rank": {rank}, "world_size": {count}}}, '
        make(folder / f"rank{rank}.pt.trace.json", lambda path, info=info: path.write_text(
            source.replace('"record_shapes"', info + '"record_shapes"', 1), encoding="ascii"))
    return folder


# ---- other text ----------------------------------------------------------------------------


def other_layouts(folder, source):
    """Layout → the same trace in it."""
    return {layout: make(folder / f"{layout}.json", lambda path, layout=layout: subprocess.run(
        [sys.executable, HERE / "layouts.py", layout, source.plain, path], check=True))
            for layout in layouts.LAYOUTS}


def real_traces(folder):
    """[(compressed or None, plain)] of those that are there."""
    for name in REAL_TRACES:
        source = program.DATA / name
        if not source.exists():
            continue
        if source.suffix != ".gz":
            yield None, source
            continue
        yield source, make(folder / source.name.removesuffix(".gz"),
                           lambda path, source=source: unpack(source, path))


def unpack(source, target):
    with gzip.open(source) as packed, open(target, "wb") as file:
        shutil.copyfileobj(packed, file)
