"""A Slurm of two nodes, both this computer, on its loopback: brought up, and ended again."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

NODES = ("n1", "n2")
SECONDS = 30.0  # in which nodes report to the controller; here they take three
CONFIGURATION = """
ClusterName=evener
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
"""
NODE = "NodeName={} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs={} CoresPerSocket={}\n"
PARTITION = f"PartitionName=all Nodes={','.join(NODES)} Default=YES State=UP MaxTime=INFINITE\n"


@contextmanager
def two_nodes():
    """Run slurmctld and a slurmd for each node; skip the test where they do not come up.

    Yields the name of the configuration, for SLURM_CONF.
    """
    programs = [_daemon(name) for name in ("slurmctld", "slurmd")]
    for name in ("srun", "salloc", "sbatch", "sinfo"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed: make test-integrations installs what Debian has")
    # Short, because the names of its sockets are in it, which have 108 characters at most.
    with tempfile.TemporaryDirectory(prefix="slurm", dir="/tmp") as folder, ExitStack() as stack:
        conf = _configured(Path(folder))
        words = [[programs[0], "-D", "-c", "-f", conf]]
        words += [[programs[1], "-D", "-f", conf, "-N", node] for node in NODES]
        started = [stack.enter_context(_running(one)) for one in words]
        _wait_until_idle(conf, started, Path(folder))
        yield conf


def _daemon(name):
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed: make test-integrations installs what Debian has")
    return path


def _configured(folder):
    """Write the configuration; return its name."""
    for name in ("state", *NODES):
        (folder / name).mkdir()
    host, cores = socket.gethostname().split(".")[0], os.cpu_count()
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in sockets]
    text = CONFIGURATION.format(
        host=host, ports=ports, folder=folder, user=pwd.getpwuid(os.getuid()).pw_name
    )
    for node, port in zip(NODES, ports[1:], strict=True):
        text += NODE.format(node, host, port, cores, cores)
    (folder / "slurm.conf").write_text(text + PARTITION)
    return str(folder / "slurm.conf")


@contextmanager
def _running(words):
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_idle(conf, started, folder):
    """Skip the test, with the last lines of the logs, where nodes do not become idle."""
    ask = ["sinfo", "--noheader", "--Node", "--format=%T"]
    limit = time.monotonic() + SECONDS
    while time.monotonic() < limit and all(one.poll() is None for one in started):
        said = subprocess.run(
            ask, env={**os.environ, "SLURM_CONF": conf}, capture_output=True, text=True, check=False
        )
        if said.stdout.split() == ["idle"] * len(NODES):
            return
        time.sleep(0.2)
    logs = [log.read_text().splitlines()[-2:] for log in sorted(folder.glob("*.log"))]
    pytest.skip(f"Slurm does not come up on this computer: {logs}")
