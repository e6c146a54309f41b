"""What programs in another Python import needs nothing but NumPy, which Debian's Python has."""

import subprocess
import sys

import numpy as np
import pytest

import evener as ev
from evener.graphs.generating.grid import grid
from tests.integrations.ranks import SOURCE

# Everything in pyproject.toml but NumPy, and what comes with it.
OTHERS = ("scipy", "numba", "llvmlite", "pymetis", "meshio", "meshlane", "rich",
          "jinja2", "matplotlib", "PIL", "tomli_w", "zstandard", "psutil", "networkx", "h5py",
          "mpi4py")  # fmt: skip
PROGRAM = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OTHERS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
import evener.integrations.dolfinx, evener.integrations.firedrake, evener.integrations.petsc
from evener.integrations.blocks import blocks_of
for path in sys.argv[1:]:
    print(*blocks_of(path, 30).part)
"""


@pytest.mark.slow
def test_plans_and_exports_are_read(tmp_path):
    plan = ev.plan(grid((5, 6)), [1, 3])
    ev.write_plan(tmp_path / "x.plan", plan)
    for to, name in (("rows", "rows.npz"), ("npz", "x.npz"), ("npy", "x.npy"), ("json", "x.json"),
                     ("csv", "x.csv")):  # fmt: skip
        ev.write_part(tmp_path / name, plan.partition.part, to, devices=plan.platform.names)
    paths = [str(path) for path in sorted(tmp_path.iterdir())]
    done = run(*paths)
    assert done.returncode == 0, done.stderr
    lines = [np.array(line.split(), int) for line in done.stdout.splitlines()]
    assert len(lines) == 6
    for line in lines:
        assert np.array_equal(line, plan.partition.part)


@pytest.mark.slow
def test_text_of_other_tools_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "x.part").write_text("0\n" * 30)
    done = run(str(tmp_path / "x.part"))
    assert done.returncode == 1
    assert "x.part is not a plan file" in done.stderr
    assert "evener export --to npz" in done.stderr


def run(*paths):
    command = [sys.executable, "-c", PROGRAM, *paths]
    return subprocess.run(command, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True,
                          check=False)  # fmt: skip
