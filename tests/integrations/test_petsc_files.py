"""PETSc's binary file: read back here, and by PETSc in a program in C."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from evener.cli import main
from evener.integrations.petsc import INDEX_SET
from tests.integrations.meshes import write_planned
from tests.integrations.ranks import DEBIAN, environment, needs

EXAMPLE = Path(__file__).parents[2] / "examples" / "integrations" / "petsc_mesh.c"


def index_sets(path):
    """The arrays of an archive of index sets."""
    found, left = [], np.fromfile(path, ">i4")
    while left.size:
        assert left[0] == INDEX_SET
        found.append(left[2 : 2 + left[1]])
        left = left[2 + left[1] :]
    return found


def test_sizes_then_vertices_block_after_block(tmp_path):
    (tmp_path / "g.graph").write_text("4 3\n2\n1 3\n2 4\n3\n")
    names = [str(tmp_path / name) for name in ("g.graph", "g.plan", "g.is")]
    assert main(["plan", names[0], "--speeds", "1,3", "-o", names[1], "--quiet"]) == 0
    assert main(["export", names[1], "--to", "petsc", "-o", names[2], "--quiet"]) == 0
    with np.load(names[1]) as file:
        part = file["part"]
    sizes, order = index_sets(names[2])
    assert sizes.tolist() == [1, 3]
    assert part[order].tolist() == [0, 1, 1, 1]
    assert order[1:].tolist() == sorted(order[1:])


@pytest.mark.integrations
@pytest.mark.slow
def test_a_program_in_c_divides_its_mesh(tmp_path):
    needs(DEBIAN)
    flags = "$(pkg-config --cflags --libs petsc)"
    if run(tmp_path, "pkg-config --exists petsc && command -v mpicc").returncode:
        pytest.skip("PETSc's headers are not installed: make test-integrations installs it")
    part = write_planned(tmp_path, ".msh").partition.part
    words = ["--to", "petsc", "-o", str(tmp_path / "mesh.is"), "--quiet"]
    assert main(["export", str(tmp_path / "mesh.plan"), *words]) == 0
    done = run(tmp_path, f"mpicc -Wall -Werror {EXAMPLE} -o petsc_mesh {flags}")
    assert done.returncode == 0, done.stderr
    done = run(tmp_path, "mpirun -n 3 ./petsc_mesh mesh.msh mesh.is")
    expected = [f"rank {rank}: {n} cells" for rank, n in enumerate(np.bincount(part))]
    assert done.stdout.splitlines() == expected, done.stderr
    for command in ("mpirun -n 2 ./petsc_mesh mesh.msh mesh.is",
                    "mpirun -n 3 ./petsc_mesh shorter.msh mesh.is"):  # fmt: skip
        done = run(tmp_path, command)
        assert done.returncode != 0
        assert f"the plan divides {part.size} cells over 3 ranks; there are" in done.stderr


def run(folder, command):
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment(DEBIAN), text=True,
                          capture_output=True, check=False, timeout=120)  # fmt: skip
