"""Ranks of launchers: recognised by what they set, and refused where MPI sees others."""

import os
import subprocess
import sys

import pytest

from evener.errors import ToolError
from evener.running import launching
from evener.running.launching import n_ranks, world

pytest.importorskip("mpi4py")


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    for key in launching.SIZES:
        monkeypatch.delenv(key, raising=False)


def test_launchers_are_recognised(monkeypatch):
    assert n_ranks() == 1
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "8")
    assert n_ranks() == 8
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    assert n_ranks() == 4


def test_processes_that_mpi_takes_for_single_ones_are_refused(monkeypatch):
    assert world().size == 1
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    with pytest.raises(ToolError, match="finds 1 ranks, but the launcher started 4"):
        world()


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("MPICH Version:      5.0.2", "mpi4py uses MPICH Version: 5.0.2"),
        ("FUJITSU MPI Library 4.0.0", "finds 1 ranks, but the launcher started 2"),  # an Open MPI
    ],
)
def test_mpich_under_open_mpi_is_refused_before_it_starts(version, reason):
    program = f"""
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
mpi4py.rc.initialize = True
from evener.running.launching import world
MPI.Get_library_version = lambda: "{version}"
world()
"""
    environment = {**os.environ, "OMPI_COMM_WORLD_SIZE": "2"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert reason in done.stderr
