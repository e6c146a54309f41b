"""Machines as hwloc and Slurm themselves describe them: planned for, and started on."""

import math
import os
import re
import shutil
import socket
import subprocess
import time
from dataclasses import replace

import pytest

from evener.cli import main
from evener.io.machines.hwloc import computer_of_hwloc
from evener.io.machines.platforms import read_platform
from evener.measuring.this_computer import cores
from tests.integrations.programs import program
from tests.io.machines.descriptions import content_of, file_of

pytestmark = [pytest.mark.integrations, pytest.mark.slow]
SLURM = """\
ClusterName=described
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmUser={user}
SlurmctldPort={port}
StateSaveLocation={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
GresTypes=gpu
PrivateData=cloud
SuspendTime=3600
SuspendProgram=/bin/true
ResumeProgram=/bin/true
NodeName=gn[1-2] CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=256000 \
MemSpecLimit=6000 Gres=gpu:a100:4 State=CLOUD
NodeName=cn1 Sockets=2 CoresPerSocket=8 State=CLOUD
NodeName=bad NodeAddr=127.0.0.3 Sockets=2 CoresPerSocket=8 State=DOWN \
Reason="a fan, CoresPerSocket=99"
PartitionName=all Nodes=ALL Default=YES State=UP
PartitionName=gpu Nodes=gn[1-2] State=UP
"""


def evener(*words):
    assert main([str(word) for word in words]) == 0


def relabelled(found):
    """Cores with their NUMA nodes numbered in turn: hwloc leaves out nodes that are not allowed."""
    turns = {}
    return [replace(core, numa=turns.setdefault(core.numa, len(turns))) for core in found]


@pytest.mark.parametrize(
    "name", ["laptop_hybrid", "two_sockets_nps4", "two_sockets_v1", "gpu_node", "big_little",
             "container", "hbm_many"]
)  # fmt: skip
def test_hwloc_takes_our_descriptions_and_says_the_same(name, tmp_path):
    command = [program("lstopo"), "-i", str(file_of(name)), "--of", "xml"]
    done = subprocess.run(command, capture_output=True, check=True)
    ours, theirs = computer_of_hwloc(content_of(name), name), computer_of_hwloc(done.stdout, name)
    assert relabelled(theirs.cores) == relabelled(ours.cores)
    assert theirs.memories == ours.memories
    assert theirs.near == ours.near
    assert [gpu.memory for gpu in theirs.gpus] == [gpu.memory for gpu in ours.gpus]


@pytest.mark.parametrize("version", ["0", "1"])  # as hwloc 2 writes XML, and as hwloc 1 did
@pytest.mark.parametrize(
    ("synthetic", "sockets", "nodes", "caches", "threads"),
    [
        ("pack:2 numa:2 l3:1 core:4 pu:2", 2, 4, 4, 2),
        ("pack:1 l3:2 core:3 pu:1", 1, 1, 2, 1),
        ("numa:2 pack:1 core:2 pu:4", 2, 2, 1, 4),
        ("pack:4 core:40 pu:1", 4, 1, 1, 1),
    ],
)
def test_machines_that_hwloc_makes_up(version, synthetic, sockets, nodes, caches, threads):
    command = [program("lstopo"), "-i", synthetic, "--export-xml-flags", version, "--of", "xml"]
    done = subprocess.run(command, capture_output=True, check=True)
    found = computer_of_hwloc(done.stdout, synthetic)
    numbers = [int(word.split(":")[1]) for word in synthetic.split()]
    assert len(found.cores) == math.prod(numbers) // threads
    assert {len(core.cpus) for core in found.cores} == {threads}
    assert len({core.socket for core in found.cores}) == sockets
    assert len({core.numa for core in found.cores}) == nodes
    assert len({core.cache for core in found.cores}) == caches
    assert len(found.memories) == nodes


@pytest.mark.parametrize("per", ["core", "socket"])
def test_this_computer_is_described_planned_for_and_started_on(tmp_path, monkeypatch, capfd, per):
    program("lstopo")
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: make test-integrations installs it")
    for key in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(key, "1")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.chdir(tmp_path)
    evener("machine", "here", "--per", per, "-o", "here.toml")
    assert "read from /sys" in (tmp_path / "here.toml").read_text()
    platform = read_platform("here.toml")
    cpus = [device for device in platform.devices if device.kind == "cpu"]
    if len(cpus) < platform.k:
        pytest.skip("a program of GPUs is not started here")
    assert sorted(c for d in cpus for c in d.cores) == sorted(core.cpu for core in cores())
    evener("generate", "grid", "--shape", "20x20", "-o", "g.graph")
    evener("plan", "g.graph", "--machine", "here.toml", "--preset", "fast", "-o", "g.plan")
    capfd.readouterr()
    say = "import os; os.write(1, f'cores {sorted(os.sched_getaffinity(0))}\\n'.encode())"
    evener("launch", "g.plan", "--run", "--", "python3", "-c", say)
    said = re.findall(r"cores \[[\d, ]*\]", capfd.readouterr().out)  # lines of ranks may be mixed
    assert sorted(said) == sorted(f"cores {list(device.cores)}" for device in cpus)


@pytest.fixture
def controller(tmp_path, monkeypatch):
    """A controller of Slurm with nodes that are not started: it describes them all the same."""
    programs = {name: program(name) for name in ("scontrol", "slurmctld", "munged")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    for key in ("SLURM_JOB_NODELIST", "SLURM_NODELIST"):
        monkeypatch.delenv(key, raising=False)
    text = SLURM.format(host=socket.gethostname().split(".")[0], folder=tmp_path, port=port,
                        user=os.environ.get("USER") or "root")  # fmt: skip
    (tmp_path / "slurm.conf").write_text(text)
    (tmp_path / "munge.key").write_bytes(os.urandom(128))
    (tmp_path / "munge.key").chmod(0o600)
    munge = [f"--key-file={tmp_path}/munge.key", f"--socket={tmp_path}/munge.sock",
             f"--pid-file={tmp_path}/munged.pid", f"--log-file={tmp_path}/munged.log",
             f"--seed-file={tmp_path}/munge.seed"]  # fmt: skip
    daemons = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for command in (
        [programs["munged"], "--foreground", "--force", *munge],
        [programs["slurmctld"], "-D", "-f", str(tmp_path / "slurm.conf")])]  # fmt: skip
    try:
        _await(programs["scontrol"], tmp_path, daemons)
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(20)


def _await(scontrol, folder, daemons):
    """Wait until the controller answers; skip the test where it does not come up."""
    for _ in range(100):
        done = subprocess.run([scontrol, "ping"], capture_output=True, text=True, check=False)
        if "UP" in done.stdout:
            return
        if any(daemon.poll() is not None for daemon in daemons):
            break
        time.sleep(0.2)
    logs = [path.read_text()[-300:] for path in folder.glob("*.log")]
    pytest.skip(f"Slurm does not come up here: {' '.join(logs)[-400:]}")


def test_nodes_of_a_controller_of_slurm(controller, tmp_path, capsys):
    file = tmp_path / "m.toml"
    evener("machine", "slurm", "--per", "socket", "-o", file)
    assert "node bad is left out: its state is DOWN" in capsys.readouterr().err
    devices = read_platform(file).devices
    assert [device.name for device in devices if device.kind == "cpu"] == [
        "cn1-socket0", "cn1-socket1", "gn1-socket0", "gn1-socket1", "gn2-socket0", "gn2-socket1"
    ]  # fmt: skip
    assert devices[0].cores == tuple(range(8))
    assert devices[0].memory is None  # not configured
    assert [len(device.cores) for device in devices if device.node == "gn1"] == [14] * 2 + [1] * 4
    gn1 = 250_000 * 2**20 * 14 / 32
    assert devices[2].memory == pytest.approx(gn1, rel=1e-3)  # four digits are written
    evener("machine", "slurm", "gn2", "--per", "gpu", "--force", "-o", file)
    (*gpus,) = read_platform(file).devices
    assert [(d.name, d.gpu, len(d.cores)) for d in gpus] == [(f"cuda{i}", i, 8) for i in range(4)]
    evener("machine", "slurm", "--partition", "gpu", "--per", "node", "--force", "-o", file)
    assert {device.node for device in read_platform(file).devices} == {"gn1", "gn2"}
    assert main(["machine", "slurm", "nosuch"]) == 5
    assert "nosuch not found" in capsys.readouterr().err
