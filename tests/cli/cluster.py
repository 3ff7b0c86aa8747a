#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the recipes of tscope(7) as they are printed there, where their programs are installed.

usage: cluster.py TSCOPE [--only NAME]… [--ranks N] [--needed]

Each recipe maps a made job with a slow rank and reports it: exit code 1, and the rank is named as
by a report of the traces. Under Slurm, a cluster of this machine alone (slurmctld, slurmd and munged
as root), one of the tasks is killed and requeued, and one fails: the report names its rank and exits
with 3; run again, the command does what is left. --needed: it is a failure that a program is missing.
"""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
KILLED, FAILING = 5, 9  # tasks of the array
NEEDS = {"parallel": ["parallel"], "mpirun": ["mpirun"], "tar": ["tar"],
         "slurm": ["slurmctld", "slurmd", "munged", "sbatch"]}
# Of the programs' own, for a machine that is none of a cluster.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_plm_rsh_agent": "false"}
CONFIGURATION = """\
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=6
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""
# In the place of tscope in a task of the array.
WRAPPER = """\
#!/bin/sh
if [ "$1" = map ] && [ "$SLURM_ARRAY_TASK_ID" = {killed} ] && [ ! -e {folder}/killed ]; then
    : > {folder}/killed
    scontrol requeue "$SLURM_JOB_ID"
    sleep 60
fi
if [ "$1" = map ] && [ "$SLURM_ARRAY_TASK_ID" = {failing} ] && [ ! -e {folder}/mended ]; then
    exit 9
fi
exec {tscope} "$@"
"""


def recipes():
    """The commands of each recipe that the manual marks."""
    text = (SOURCE / "man" / "tscope.7").read_text()
    for name, block in re.findall(r'^\.\\" run: (\w+)\n\.Bd -literal\n(.*?)^\.Ed', text,
                                  re.M | re.S):
        yield name, [line[2:].replace("\\e", "\\") for line in block.splitlines()
                     if line.startswith("$ ")]


class ClusterError(Exception):
    """The cluster of this machine does not start."""


def is_there(name):
    if name == "slurm" and os.geteuid() != 0:
        return False
    return all(shutil.which(program) for program in NEEDS[name])


def make_job(folder, ranks):
    sys.path.insert(0, str(SOURCE / "tests" / "reference"))
    import make_ranks  # pylint: disable=import-outside-toplevel
    slow = ranks // 2
    make_ranks.make(folder / "traces", [
        "--ranks", ranks, "--steps", 6, "--layers", 2, "--buckets", 2, "--compact", "--fault",
        "slow_clock", "--fault-rank", slow, "--fault-size", 0.5])
    (folder / "traces" / "truth.json").unlink()
    subprocess.run(["tar", "-cf", "traces.tar", "traces"], cwd=folder, check=True)
    (folder / "scripts").symlink_to(SOURCE / "scripts")
    return slow


def run_recipe(commands, folder, environment):
    """Exit code and output of the last command; the others must succeed."""
    shutil.rmtree(folder / "mapped", ignore_errors=True)
    for command in commands:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True,
                              capture_output=True, timeout=300, check=False)
        if command != commands[-1] and done.returncode != 0:
            break
    return done.returncode, done.stdout + done.stderr


# ---- Slurm -------------------------------------------------------------------------------


def end(path):
    """Ends the daemon that wrote its process number there."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
        process = int(path.read_text())
        os.kill(process, signal.SIGTERM)
        for _ in range(50):
            time.sleep(0.1)
            os.kill(process, 0)
        os.kill(process, signal.SIGKILL)


def start(command, environment):
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"{command[0]} exits with {done.returncode}: {done.stderr.strip()}")


def wait_for_node(environment):
    for _ in range(120):
        done = subprocess.run(["sinfo", "-h", "-o", "%t"], env=environment, text=True,
                              capture_output=True, check=False)
        if done.stdout.strip() == "idle":
            return
        time.sleep(0.5)
    raise ClusterError(f"the node is {done.stdout.strip()!r}, not idle: {done.stderr.strip()}")


def logs(folder):
    """How the logs of the daemons end."""
    for path in sorted(folder.glob("*.log")):
        lines = path.read_text(errors="replace").splitlines()[-15:]
        yield "\n".join([f"-- {path.name}", *lines])


@contextlib.contextmanager
def cluster(folder):
    """A cluster of this machine, of which the environment is returned."""
    host = socket.gethostname().split(".")[0]
    folder.mkdir()
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o600)
    (folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, folder=folder))
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    try:
        start(["munged", "--force", f"--key-file={folder}/munge.key",
               f"--socket={folder}/munge.sock", f"--pid-file={folder}/munged.pid",
               f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed"], environment)
        for daemon in ("slurmctld", "slurmd"):
            start([daemon, "-f", f"{folder}/slurm.conf"], environment)
        wait_for_node(environment)
        yield environment
    except ClusterError as error:
        raise ClusterError("\n".join([f"no cluster: {error}", *logs(folder)])) from error
    finally:
        for name in ("slurmd.pid", "slurmctld.pid", "munged.pid"):
            end(folder / name)


def check_slurm(commands, folder, program, slow):
    """What goes wrong with an array of which a task is killed and another fails."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "tscope").write_text(WRAPPER.format(killed=KILLED, failing=FAILING, folder=folder,
                                                 tscope=program))
    (tools / "tscope").chmod(0o755)
    with cluster(folder / "slurm") as environment:
        environment["PATH"] = f"{tools}:{environment['PATH']}"
        code, text = run_recipe(commands, folder, environment)
        if code != 3 or not re.search(rf"missing: {FAILING}\b", text):
            yield f"a task fails: exit {code}: {text[-400:]}"
        if not (folder / "killed").exists():
            yield "no task was killed"
        (folder / "mended").touch()
        before = {path: path.stat().st_mtime_ns for path in (folder / "mapped").iterdir()}
        done = subprocess.run(["sh", "-c", commands[-1]], cwd=folder, env=environment, text=True,
                              capture_output=True, timeout=300, check=False)
        if done.returncode != 1 or f"slow: rank {slow}" not in done.stdout:
            yield f"run again: exit {done.returncode}: {done.stdout[-400:]}{done.stderr}"
        if any(path.stat().st_mtime_ns != time_ns for path, time_ns in before.items()):
            yield "files that were whole were mapped again"


def check(name, commands, folder, program, slow):
    if name == "slurm":
        yield from check_slurm(commands, folder, program, slow)
        return
    tools = pathlib.Path(program).parent
    environment = {**os.environ, **ENVIRONMENT, "PATH": f"{tools}:{os.environ['PATH']}"}
    code, text = run_recipe(commands, folder, environment)
    if code != 1 or f"slow: rank {slow}" not in text:
        yield f"exit {code}: {text[-400:]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--only", action="append", choices=NEEDS)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--needed", action="store_true")
    options = parser.parse_args()
    version = subprocess.run([options.program, "--version"], capture_output=True, text=True,
                             check=True).stdout
    if "zstd: not built in" in version:
        print("this build has no zstd")
        return 77
    ran, missing, problems = [], [], 0
    # The daemons of Slurm may write while they end.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        slow = make_job(folder, options.ranks)
        for name, commands in recipes():
            if options.only and name not in options.only:
                continue
            if not is_there(name):
                missing.append(name)
                continue
            try:
                found = list(check(name, commands, folder, options.program, slow))
            except ClusterError as error:
                found = [error]
            for problem in found:
                print(f"{name}: {problem}")
            problems += len(found)
            ran.append(name)
    if missing:
        print(f"programs are missing: {', '.join(missing)}")
    print(f"{', '.join(ran)}: {problems} problems")
    if problems or (missing and options.needed):
        return 1
    return 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
