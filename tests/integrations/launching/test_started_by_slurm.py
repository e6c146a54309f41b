"""Ranks that Slurm starts on two nodes: each prints where it runs, and the size of its block."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from tests.assertions import grid
from tests.integrations.launching.jobs import ALIKE, MIXED, MIXED_UNLIKE, UNLIKE, WITHOUT
from tests.integrations.launching.played import REPORT, program, reported
from tests.integrations.launching.slurm_here import two_nodes
from tests.integrations.programs import package

pytestmark = [pytest.mark.integrations, pytest.mark.slow]
USABLE = sorted(os.sched_getaffinity(0))
NODE_OF = {"a": "n1", "b": "n2"}


@pytest.fixture(scope="module")
def slurm():
    """A Slurm of two nodes, for the programs that this process starts."""
    if len(USABLE) < 2 or max(USABLE[:2]) >= os.cpu_count():
        pytest.skip("the first two cores are needed")
    with two_nodes() as conf, pytest.MonkeyPatch.context() as patch:
        for key in [key for key in os.environ if key.startswith("SLURM_")]:
            patch.delenv(key)
        patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        patch.setenv("SLURM_CONF", conf)
        yield


@pytest.fixture
def planned(slurm, tmp_path, monkeypatch):
    """Write a plan of a mesh for devices; return what its ranks are to report."""
    monkeypatch.chdir(tmp_path)
    program(tmp_path, "report", REPORT)

    def write(where, **last):
        traits = [{"node": NODE_OF[host], "cores": own} for host, own in where]
        for one in traits:
            one["cores"] = tuple(sorted({USABLE[core % 2] for core in one["cores"]}))
        traits[-1] |= last
        devices = [ev.Device(f"d{i}", i + 1.0, **one) for i, one in enumerate(traits)]
        plan = ev.plan(grid(20, 20), devices, preset="fast")
        ev.write_plan("x.plan", plan)
        np.savetxt("x.part", plan.partition.part, fmt="%d")
        sizes = plan.evaluation.certificate.vertices.tolist()
        gpus = ["none", "none", str(last.get("gpu", "none"))]
        cores = [device.cores or tuple(USABLE) for device in devices]
        nodes = [device.node for device in devices]
        return dict(enumerate(zip(nodes, cores, gpus, sizes, strict=True)))

    return write


LAUNCH = ["launch", "x.plan", "--with", "slurm"]
REPORTING = ["--", "./report", "x.part"]


@pytest.mark.parametrize("where", [ALIKE, UNLIKE, MIXED, MIXED_UNLIKE, WITHOUT])
def test_in_an_allocation_of_their_own(planned, capfd, where):
    wanted = planned(where, gpu=3)
    capfd.readouterr()
    code = main([*LAUNCH, "-o", "out", "--run", *REPORTING])
    said = capfd.readouterr()
    assert code == 0, said.err
    assert reported(said.out) == wanted
    assert ("hetjob" in Path("out/job.sbatch").read_text()) == (where is UNLIKE)


@pytest.mark.parametrize("where", [ALIKE, UNLIKE])
def test_as_a_batch_script(planned, where):
    wanted = planned(where)
    assert main([*LAUNCH, "-o", "out", "--quiet", *REPORTING]) == 0
    submit = ["sbatch", "--wait", "--output=said.txt", "out/job.sbatch"]
    done = subprocess.run(submit, capture_output=True, text=True, timeout=120, check=False)
    assert reported(Path("said.txt").read_text()) == wanted, done.stderr
    assert done.returncode == 0


def test_within_an_allocation(planned):
    wanted = planned(ALIKE)
    allocate = ["salloc", "--quiet", "--nodes=2", "--exclusive"]
    words = [sys.executable, "-m", "evener", *LAUNCH, "--run", *REPORTING]
    done = subprocess.run(
        [*allocate, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "running: sh " in done.stderr
    assert reported(done.stdout) == wanted


WORLD = """
import os
from mpi4py import MPI
comm = MPI.COMM_WORLD
print(comm.rank, len(comm.allgather(0)), os.environ["SLURMD_NODENAME"], flush=True)
"""


@pytest.mark.parametrize("where", [ALIKE, UNLIKE])
def test_the_rank_is_that_of_mpi(planned, where):
    package("mpi4py")
    whose = "from mpi4py import MPI; print(MPI.Get_library_version())"
    asked = subprocess.run([sys.executable, "-c", whose], capture_output=True, check=False)
    if b"MPICH" not in asked.stdout:
        pytest.skip("mpi4py is of another MPI than MPICH, which speaks Slurm's pmi2")
    planned(where)
    Path("world.py").write_text(WORLD)
    words = [*LAUNCH, "--mpirun", "srun --mpi=pmi2", "--run", "--", sys.executable, "world.py"]
    done = subprocess.run(
        [sys.executable, "-m", "evener", *words],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = sorted(line.split() for line in done.stdout.splitlines())
    assert said == [["0", "3", "n1"], ["1", "3", "n1"], ["2", "3", "n2"]]


def test_the_exit_code_is_handed_on(planned):
    planned(ALIKE)
    assert main([*LAUNCH, "--run", "--quiet", "--", "sh", "-c", "exit 7"]) == 7


def test_nodes_that_slurm_does_not_have(slurm, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ev.write_platform("m.toml", ev.Platform((ev.Device("d", 1.0, node="n9"),)))
    assert main(["launch", "m.toml", "--with", "slurm", "--run", "--", "hostname"]) == 1
    assert "Invalid node name" in capfd.readouterr().err
