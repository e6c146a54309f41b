"""Launchers are known by what they say of themselves, whatever they are called."""

import os

import pytest

from evener.errors import ToolError, UsageError
from evener.integrations.launching.launchers import Launcher, launcher_of

OPENMPI = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/"
HYDRA = "HYDRA build details:\n    Version:                                 4.2.0\n    CC: cc"
SLURM = "slurm 23.11.4"
INTEL = "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230306"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Put programs into folders of PATH, each of which says what it is told to."""
    monkeypatch.setenv("PATH", "")

    def put(folder, **says):
        (tmp_path / folder).mkdir()
        for name, text in says.items():
            file = tmp_path / folder / name
            file.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n".replace("cat", "/bin/cat"))
            file.chmod(0o755)
        before = os.environ["PATH"]
        monkeypatch.setenv("PATH", f"{before}:{tmp_path / folder}".lstrip(":"))
        return str(tmp_path / folder)

    return put


def test_the_first_mpirun_is_taken_for_what_it_is(programs):
    first = programs("one", mpirun=HYDRA, mpiexec=HYDRA)
    second = programs("two", mpirun=OPENMPI)
    assert launcher_of() == Launcher("mpich", f"{first}/mpirun", (4, 2, 0))
    assert launcher_of("openmpi") == Launcher("openmpi", f"{second}/mpirun", (4, 1, 4))
    assert launcher_of("mpich").path == f"{first}/mpiexec"


def test_slurm_where_there_is_no_mpirun(programs):
    folder = programs("one", srun=SLURM)
    assert launcher_of() == Launcher("slurm", f"{folder}/srun", (23, 11, 4))


def test_a_launcher_that_is_elsewhere(programs):
    programs("one", mpirun=HYDRA)
    assert launcher_of("openmpi") == Launcher("openmpi", "mpirun")
    assert not launcher_of("openmpi").is_found


def test_the_program_asked_for(programs):
    folder = programs("one", mpirun=HYDRA, mine=OPENMPI)
    assert launcher_of(program=f"{folder}/mine").kind == "openmpi"
    assert launcher_of("openmpi", "mine").path == f"{folder}/mine"
    with pytest.raises(UsageError, match="mine belongs to openmpi, not to mpich"):
        launcher_of("mpich", "mine")
    with pytest.raises(ToolError, match="there is no program 'none'"):
        launcher_of(program="none")


def test_launchers_that_are_not_known(programs):
    folder = programs("one", mpirun=INTEL, silent="")
    for ask in (launcher_of, lambda: launcher_of(program="mpirun")):
        with pytest.raises(ToolError, match=f"{folder}/mpirun belongs neither .*Intel") as caught:
            ask()
        assert "--with hostfile" in caught.value.hint
    with pytest.raises(ToolError, match="it prints 'nothing'"):
        launcher_of(program="silent")


def test_without_any_launcher(programs):
    programs("one")
    with pytest.raises(ToolError, match="no mpirun, mpiexec or srun in PATH"):
        launcher_of()
    assert launcher_of("hostfile").kind == "hostfile"
    with pytest.raises(UsageError, match="there is no launcher 'mpch'; did you mean mpich"):
        launcher_of("mpch")
