"""Ranks that Open MPI and MPICH start: each prints where it runs, and the size of its block."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.integrations.launching.launchers import launcher_of
from tests.assertions import grid
from tests.integrations.launching.jobs import ALIKE, MIXED, MIXED_UNLIKE, UNLIKE, WITHOUT
from tests.integrations.launching.played import AS_ROOT, REMOTE, REPORT, played, program, reported
from tests.integrations.programs import package, system_python

pytestmark = [pytest.mark.integrations, pytest.mark.slow]
UUID = "GPU-8f6d5c2e-1111-2222-3333-444455556666"
USABLE = sorted(os.sched_getaffinity(0))
# Of mpirun itself: 4.1.4 with hwloc 2.9 now and then ends by a signal in libhwloc, while it reads
# what another host is like; two daemons of what here is one host may make the same folder; and a
# daemon under load may say that it cannot reach another one, though all ranks run.
CRASHES = 3
CRASHED = ("libhwloc", "Error:     File exists", "unable to complete a TCP connection")


@pytest.fixture(params=["openmpi", "mpich"])
def launcher(request, monkeypatch):
    """A launcher of each kind, or the test is skipped."""
    for key, value in AS_ROOT.items():
        monkeypatch.setenv(key, value)
    for key in ("SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(key, raising=False)
    # MPICH of PyPI lies beside this Python, in whichever environment; Debian's come first.
    beside = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{beside}")
    if len(USABLE) < 2:
        pytest.skip("two cores are needed")
    return found(request.param)


def found(kind):
    one = launcher_of(kind)
    if not one.is_found:
        pytest.skip(f"there is no launcher of {kind} in PATH: make test-integrations installs it")
    return one


@pytest.fixture
def started(launcher, tmp_path, capfd, monkeypatch):
    """Plan a mesh for devices, start a program's ranks, and compare what they report."""
    monkeypatch.chdir(tmp_path)
    program(tmp_path, "report", REPORT)

    def start(devices, *options):
        plan = ev.plan(grid(20, 20), devices, preset="fast")
        ev.write_plan("x.plan", plan)
        np.savetxt("x.part", plan.partition.part, fmt="%d")
        words = ["launch", "x.plan", "--with", launcher.kind, "--run", *options]
        for _ in range(CRASHES + 1):
            capfd.readouterr()
            code = main([*words, "--force", "--", "./report", "x.part"])
            said = capfd.readouterr()
            if not any(words in said.out + said.err for words in CRASHED):
                break
        assert code == 0, said.err
        sizes = plan.evaluation.certificate.vertices.tolist()
        assert len(set(sizes)) == len(sizes), "blocks that a test cannot tell apart"
        wanted = {
            rank: (
                device.node or socket.gethostname(),
                device.cores or tuple(USABLE),
                "none" if device.gpu is None else str(device.gpu),
                sizes[rank],
            )
            for rank, device in enumerate(devices)
        }
        assert reported(said.out) == wanted

    return start


def devices_of(*traits):
    return [ev.Device(f"d{i}", i + 1.0, **one) for i, one in enumerate(traits)]


@pytest.mark.parametrize(
    "traits",
    [
        [{"cores": [1]}, {"cores": [0]}, {"cores": [0, 1]}],
        [{"cores": [1], "gpu": 1}, {"cores": [1]}, {"cores": [1], "gpu": UUID}],
        [{"cores": [1]}, {}, {"gpu": 0}],
        [{}, {}, {}],
    ],
)
def test_on_this_computer(started, traits):
    cores = {0: USABLE[0], 1: USABLE[1]}
    for one in traits:
        if "cores" in one:
            one["cores"] = tuple(cores[core] for core in one["cores"])
    started(devices_of(*traits))


def here(where):
    """Return hosts and cores of places, all cores being two that there are."""
    return [(host, tuple(sorted({USABLE[core % 2] for core in cores}))) for host, cores in where]


@pytest.mark.parametrize("where", [ALIKE, UNLIKE, MIXED, MIXED_UNLIKE, WITHOUT])
def test_on_other_computers(started, launcher, tmp_path, where):
    remote = program(tmp_path, "remote", REMOTE)
    traits = [{"node": host, "cores": cores} for host, cores in here(where)]
    traits[-1]["gpu"] = 3
    started(devices_of(*traits), "-o", "out", "--mpirun", played(launcher, remote))


WORLD = """
import os
from mpi4py import MPI
comm = MPI.COMM_WORLD
line = f"{comm.rank} {len(comm.allgather(0))} {os.environ['CUDA_VISIBLE_DEVICES']}\\n"
os.write(1, line.encode())  # at once: lines of ranks are not mixed
"""


def test_the_rank_is_that_of_mpi(launcher, tmp_path, monkeypatch, capfd):
    if launcher.kind == "mpich":
        package("mpi4py")
        python = sys.executable
    else:
        python = system_python("mpi4py")
        for key in [key for key in os.environ if key.startswith("PYTHON")]:
            monkeypatch.delenv(key)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "world.py").write_text(WORLD)
    devices = devices_of(*({"gpu": gpu} for gpu in (7, 5, 6)))
    ev.write_platform("m.toml", ev.Platform(tuple(devices)))
    code = main(["launch", "m.toml", "--with", launcher.kind, "--run", "--", python, "world.py"])
    said = capfd.readouterr()
    assert code == 0, said.err
    assert sorted(said.out.split("\n")[:3]) == ["0 3 7", "1 3 5", "2 3 6"]


def test_the_exit_code_is_handed_on(launcher, tmp_path):
    ev.write_platform(tmp_path / "m.toml", ev.Platform(tuple(devices_of({}, {}))))
    words = ["launch", str(tmp_path / "m.toml"), "--with", launcher.kind, "--run", "--quiet"]
    assert main([*words, "--", "sh", "-c", "exit 7"]) == 7
    # Hydra's mpiexec gets SIGPIPE now and then if ranks end before it has written to them.
    assert main([*words, "--", "sh", "-c", "sleep 0.2"]) == 0


@pytest.mark.parametrize("by_terminal", [True, False])
def test_an_interrupt_ends_all_ranks(launcher, tmp_path, by_terminal):
    ev.write_platform(tmp_path / "m.toml", ev.Platform(tuple(devices_of({}, {}))))
    words = ["launch", "m.toml", "--with", launcher.kind, "--run"]
    rank = 'echo $$ > "pid-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec sleep 300'
    process = subprocess.Popen(
        [sys.executable, "-m", "evener", *words, "--", "sh", "-c", rank],
        cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    files = [tmp_path / f"pid-{i}" for i in range(2)]
    until(lambda: all(file.exists() and file.read_text().strip() for file in files))
    ranks = [int(file.read_text()) for file in files]
    if by_terminal:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    until(lambda: not any(os.path.exists(f"/proc/{pid}/fd") for pid in ranks))  # noqa: PTH110


def until(holds, seconds=30.0):
    limit = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)
