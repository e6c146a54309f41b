"""The pages on solvers do what they say, with the programs; test_docs.py runs all but these.

Blocks marked `no test` there that begin with `mpirun` are run here, after the others of the page.
"""

import subprocess
from pathlib import Path

import pytest

from tests.doors.programs import package
from tests.doors.ranks import DEBIAN, environment, needs, run_on_ranks
from tests.test_docs import assert_printed, blocks_of, commands_of, run_page

ROOT = Path(__file__).parents[2]
PETSC, DOLFINX = ROOT / "docs" / "doors-petsc.md", ROOT / "docs" / "doors-dolfinx.md"
EXAMPLES = {
    "petsc_mesh.py": PETSC,
    "petsc_matrix.py": PETSC,
    "dolfinx_poisson.py": DOLFINX,
}  # fmt: skip


def run_solvers(page):
    run_page(page)
    for block in blocks_of(page):
        for command, expected in commands_of(block.text) if block.language == "console" else []:
            if command.startswith("mpirun"):
                done = subprocess.run(["bash", "-c", command], env=environment(DEBIAN), text=True,
                                      capture_output=True, check=False, timeout=120)  # fmt: skip
                assert done.returncode == 0, done.stderr
                assert_printed(expected, done.stdout, f"{page.name}: {command}")


@pytest.mark.doors
@pytest.mark.slow
def test_the_page_on_petsc(tmp_path, monkeypatch):
    needs(DEBIAN, "petsc4py", "mpi4py", "scipy")
    monkeypatch.chdir(tmp_path)
    run_solvers(PETSC)

    # What every rank says where ranks are fewer, after which mpirun ends.
    done = run_on_ranks(DEBIAN, 2, "petsc_mesh.py", "mesh.msh", "mesh.plan", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("the plan is for 3 devices, the program runs on 2 ranks") == 2


@pytest.mark.doors
@pytest.mark.slow
def test_the_page_on_dolfinx(tmp_path, monkeypatch):
    needs(DEBIAN, "dolfinx", "mpi4py")
    package("h5py")
    monkeypatch.chdir(tmp_path)
    run_solvers(DOLFINX)
    # What the page says of one rank.
    program = (tmp_path / "dolfinx_poisson.py").read_text()
    alone = program.replace(", partitioner=partitioner)", ")").replace(
        "dolfinx.check(mesh, plan)", "0"
    )
    assert alone.count("partitioner") == 2  # made, and not used
    (tmp_path / "alone.py").write_text(alone)
    done = run_on_ranks(DEBIAN, 1, "alone.py", "mesh.xdmf", "mesh.plan", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "highest value 0.07340", done.stderr


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_the_programs_of_the_pages(name):
    example = (ROOT / "examples" / "doors" / name).read_text()
    assert len(example.splitlines()) <= 45
    shown = [block.text for block in blocks_of(EXAMPLES[name]) if block.mark == f"file: {name}"]
    assert shown == [example]
