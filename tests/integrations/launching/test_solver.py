"""A solver from mesh to run: OpenFOAM's icoFoam, each rank on the cores of its device."""

import os
import subprocess

import pytest

import evener as ev
from evener.cli import main
from evener.integrations.launching.launchers import launcher_of
from tests.integrations.cavity import write_case
from tests.integrations.launching.played import AS_ROOT
from tests.integrations.programs import program

pytestmark = [pytest.mark.integrations, pytest.mark.slow]


def test_icofoam_runs_where_its_blocks_are(tmp_path, monkeypatch, capfd):
    program("icoFoam")
    if not launcher_of("openmpi").is_found:
        pytest.skip("there is no Open MPI in PATH: make test-integrations installs it")
    monkeypatch.setenv("WM_PROJECT_DIR", "/usr/share/openfoam")
    for key, value in AS_ROOT.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    write_case(tmp_path / "cavity")
    core = min(os.sched_getaffinity(0))
    devices = tuple(ev.Device(f"d{i}", i + 1.0, cores=(core,)) for i in range(3))
    ev.write_platform("m.toml", ev.Platform(devices))
    subprocess.run(["blockMesh", "-case", "cavity"], check=True, capture_output=True)
    for words in (
        "plan cavity --machine m.toml -o x.plan --quiet",
        "export x.plan cavity --to openfoam --quiet",
    ):
        assert main(words.split()) == 0
    subprocess.run(["decomposePar", "-case", "cavity"], check=True, capture_output=True)
    capfd.readouterr()
    solver = "-- icoFoam -parallel -case cavity"
    # Whichever mpirun is first in PATH, another MPI's is refused.
    code = main(f"launch x.plan --run --with openmpi {solver}".split())
    said = capfd.readouterr()
    assert code == 0, said.err
    assert "nProcs : 3" in said.out
    assert "Time = 0.05" in said.out
    if launcher_of("mpich").is_found:
        assert main(f"launch x.plan --run --with mpich {solver}".split()) == 2
        assert "icoFoam is linked with openmpi" in capfd.readouterr().err
