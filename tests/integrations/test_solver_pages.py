"""The sections on solvers do what they say, with the programs; test_docs.py runs all but these.

Blocks marked `no test` there that begin with `mpirun` are run here, after the others.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integrations.programs import package
from tests.integrations.ranks import DEBIAN, environment, needs, run_on_ranks
from tests.test_docs import assert_printed, blocks_of, commands_of, run_page

ROOT = Path(__file__).parents[2]
PAGE, EXAMPLES = ROOT / "docs" / "integrations.md", ROOT / "examples" / "integrations"
# A line of the example that the page shows, with the lines around it.
SHOWN = {
    "petsc_mesh.py": "petsc.partitioner(",
    "petsc_matrix.py": "petsc.rows(",
    "dolfinx_poisson.py": "dolfinx.partitioner(",
}  # fmt: skip


def run_solvers(section, *examples):
    for name in examples:
        shutil.copy(EXAMPLES / name, name)
    run_page(PAGE, "Example mesh", section)
    for block in blocks_of(PAGE, section):
        for command, expected in commands_of(block.text) if block.language == "console" else []:
            if command.startswith("mpirun"):
                done = subprocess.run(["bash", "-c", command], env=environment(DEBIAN), text=True,
                                      capture_output=True, check=False, timeout=120)  # fmt: skip
                assert done.returncode == 0, done.stderr
                assert_printed(expected, done.stdout, f"{PAGE.name}: {command}")


@pytest.mark.integrations
@pytest.mark.slow
def test_the_section_on_petsc(tmp_path, monkeypatch):
    needs(DEBIAN, "petsc4py", "mpi4py", "scipy")
    monkeypatch.chdir(tmp_path)
    run_solvers("PETSc", "petsc_matrix.py")

    # What every rank says where ranks are fewer, after which mpirun ends.
    done = run_on_ranks(DEBIAN, 2, "petsc_mesh.py", "mesh.msh", "mesh.plan", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("the plan is for 3 devices, but the program runs on 2 ranks") == 2


@pytest.mark.integrations
@pytest.mark.slow
def test_the_section_on_dolfinx(tmp_path, monkeypatch):
    needs(DEBIAN, "dolfinx", "mpi4py")
    package("h5py")
    monkeypatch.chdir(tmp_path)
    run_solvers("DOLFINx", "dolfinx_poisson.py")
    # What the section says of one rank.
    program = (tmp_path / "dolfinx_poisson.py").read_text()
    alone = program.replace(", partitioner=partitioner)", ")").replace(
        "dolfinx.check(mesh, plan)", "0"
    )
    assert alone.count("partitioner") == 2  # made, and not used
    (tmp_path / "alone.py").write_text(alone)
    done = run_on_ranks(DEBIAN, 1, "alone.py", "mesh.xdmf", "xdmf.plan", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "highest value 0.07340", done.stderr


@pytest.mark.parametrize("name", SHOWN)
def test_the_page_shows_lines_of_the_examples(name):
    example = (EXAMPLES / name).read_text()
    assert len(example.splitlines()) <= 45
    blocks = [block.text for block in blocks_of(PAGE) if block.language == "python"]
    assert [text in example for text in blocks if SHOWN[name] in text] == [True]
