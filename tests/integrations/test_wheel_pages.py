"""The sections on Gmsh and MFEM do what they say, with the programs that PyPI has.

Blocks of Python marked `no test` there are run here, after the others of their section.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest

import evener as ev
from tests.integrations.programs import package
from tests.test_docs import blocks_of, run_page

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
pytestmark = [pytest.mark.integrations, pytest.mark.slow]


def run_all(section):
    run_page(PAGE, "Example mesh", section)
    names = {}
    for block in blocks_of(PAGE, section):
        if block.language == "python" and block.mark == "no test":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of SWIG, on import
                exec(compile(block.text, f"{PAGE.name}:{block.line}", "exec"), names)
    return names


def test_the_section_on_gmsh(tmp_path, monkeypatch):
    package("gmsh")
    monkeypatch.chdir(tmp_path)
    gmsh = run_all("Gmsh")["gmsh"]
    gmsh.finalize()
    partition = ev.read("divided.msh").mesh.cell_data["partition"]
    sizes = np.bincount(ev.read_plan("mesh.plan").partition.part)
    assert np.bincount(partition)[1:].tolist() == sizes.tolist()


def test_the_section_on_mfem(tmp_path, monkeypatch):
    package("mfem")
    monkeypatch.chdir(tmp_path)
    names = run_all("MFEM")
    part = ev.read_plan("mesh.plan").partition.part
    assert [names["part"][i] for i in range(part.size)] == part.tolist()
    assert len(list(tmp_path.glob("mesh.mesh.00000?"))) == 3
