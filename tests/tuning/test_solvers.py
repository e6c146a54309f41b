"""`evener tune` with OpenFOAM and PETSc, as Debian has them."""

import json

import pytest

import evener as ev
from evener.cli import main
from tests.integrations.cavity import write_case
from tests.integrations.programs import program
from tests.integrations.ranks import DEBIAN, needs
from tests.integrations.test_openfoam_program import ENVIRONMENT, foam

pytestmark = [pytest.mark.integrations, pytest.mark.slow]
STEPS = 40


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder, in which Debian's Open MPI runs."""
    monkeypatch.chdir(tmp_path)
    for key, value in (ENVIRONMENT | dict(DEBIAN.more)).items():
        monkeypatch.setenv(key, value)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return tmp_path


def tuned(capsys, *words):
    assert main(["tune", *words]) == 0
    return json.loads(capsys.readouterr().out)["rounds"]


def test_steps_of_openfoam(place, capsys):
    """A time step has four sums of 16 bytes."""
    program("icoFoam")
    write_case(place)
    control = place / "system" / "controlDict"
    control.write_text(control.read_text().replace("endTime 0.05", f"endTime {0.005 * STEPS}"))
    foam(place, "blockMesh")
    assert main(["plan", ".", "--speeds", "1,3", "-o", "x.plan", "--quiet"]) == 0
    assert main(["export", "x.plan", ".", "--to", "openfoam", "--quiet"]) == 0
    foam(place, "decomposePar")
    command = "mpirun.openmpi", "--oversubscribe", "-n", "2", "icoFoam", "-parallel"
    (one,) = tuned(capsys, "x.plan", ".", "--json", "--", *command)
    assert one["step"] == "every 4 calls of Allreduce of 16 bytes"
    assert STEPS - 3 <= one["steps"] <= STEPS
    assert sum(device["units"] for device in one["devices"]) == 400
    assert all(device["neighbours"][0]["bytes"] > 0 for device in one["devices"])


def test_steps_of_petsc(place, capsys):
    needs(DEBIAN, "petsc4py")
    assert main(["generate", "grid", "--shape", "1x200000", "-o", "path.graph", "--quiet"]) == 0
    assert main(["plan", "path.graph", "--k", "2", "-o", "x.plan", "--quiet"]) == 0
    assert main(["export", "x.plan", "--to", "metis", "-o", "path.part", "--quiet"]) == 0
    source = ev.__file__.replace("src/evener/__init__.py", "tests/tuning/petsc_program.py")
    (one,) = tuned(
        capsys, "x.plan", "--json", "--", DEBIAN.mpirun, "-n", "2", DEBIAN.python, source,
        "path.part",
    )  # fmt: skip
    assert "Allreduce" in one["step"]
    assert one["steps"] >= 30
    assert all(device["computing"] > 0 for device in one["devices"])
