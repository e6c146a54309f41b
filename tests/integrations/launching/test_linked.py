"""Programs of one MPI are not started by the launcher of another."""

import os

import pytest

from evener.errors import UsageError
from evener.integrations.launching.launchers import Launcher, launcher_of, refuse_other_mpi
from tests.integrations.launching.played import program
from tests.integrations.programs import program as installed

OPENMPI, MPICH = "libmpi.so.40 => /lib/libmpi.so.40", "libmpi.so.12 => /lib/libmpi.so.12"


@pytest.fixture
def says(tmp_path, monkeypatch):
    """Make ldd say something of the program that is returned."""

    def of(text):
        program(tmp_path, "ldd", f"#!/bin/sh\necho '{text}'\n")
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return program(tmp_path, "solver", "#!/bin/sh\n")

    return of


@pytest.mark.parametrize(
    ("text", "kind"), [(OPENMPI, "mpich"), (MPICH, "openmpi"), ("libmpich.so.0 => /x", "openmpi")]
)
def test_another_mpi_is_refused(says, text, kind):
    with pytest.raises(UsageError, match="each rank would run as a single process"):
        refuse_other_mpi(says(text), Launcher(kind, "mpirun", (4, 1, 0)))


@pytest.mark.parametrize(
    ("text", "kind", "version"),
    [
        (OPENMPI, "openmpi", (4, 1, 0)),
        (MPICH, "mpich", (4, 1, 0)),
        (OPENMPI, "slurm", (22, 5, 0)),
        (OPENMPI, "mpich", ()),
        (f"{OPENMPI} {MPICH}", "mpich", (4, 1, 0)),
        ("not a dynamic executable", "mpich", (4, 1, 0)),
        ("libmpi.so.1 => /x", "mpich", (4, 1, 0)),
    ],
)
def test_what_is_right_or_not_known(says, text, kind, version):
    refuse_other_mpi(says(text), Launcher(kind, "mpirun", version))


def test_without_ldd_nothing_is_known(tmp_path, monkeypatch):
    solver = program(tmp_path, "solver", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", "")
    refuse_other_mpi(solver, Launcher("mpich", "mpirun", (4, 1, 0)))


@pytest.mark.integrations
def test_a_solver_of_debian():
    solver = installed("icoFoam")
    refuse_other_mpi(solver, launcher_of("openmpi"))
    with pytest.raises(UsageError, match="icoFoam is linked with openmpi"):
        refuse_other_mpi(solver, Launcher("mpich", "mpiexec", (4, 1, 0)))
