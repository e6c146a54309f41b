"""Ranks of launchers: recognised by what they set, and refused where MPI sees others."""

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
