"""The tutorial from a mesh to a running solver does what it says, with OpenFOAM itself."""

import shlex
from pathlib import Path

import pytest

from tests.integrations.cavity import write_case
from tests.integrations.programs import program
from tests.test_docs import ROOT, Block, blocks_of, run_console

PAGE = ROOT / "docs" / "tutorial-mesh.md"

pytestmark = [pytest.mark.integrations, pytest.mark.slow]


def here(text, case):
    """The commands of a block, with this computer's path of the case."""
    tutorial = "$FOAM_TUTORIALS/incompressible/icoFoam/cavity/cavity"
    return text.replace(tutorial, shlex.quote(str(case)))


def test_from_a_mesh_to_a_running_solver(tmp_path, monkeypatch):
    for name in ("blockMesh", "decomposePar", "icoFoam", "reconstructPar", "mpirun.openmpi"):
        program(name)
    case = tmp_path / "tutorials" / "cavity"
    write_case(case)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("WM_PROJECT_DIR", "/usr/share/openfoam")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")  # three ranks on perhaps two cores
    monkeypatch.chdir(tmp_path)
    for block in blocks_of(PAGE):
        if block.mark.startswith("file: "):
            Path(block.mark.removeprefix("file: ")).write_text(block.text)
        elif block.language == "console":
            run_console(Block("console", here(block.text, case), block.line), f"{PAGE.name}")
    assert (tmp_path / "cavity" / "0.05" / "U").exists()
