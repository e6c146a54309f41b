"""The kernels of a first plan are enough for one."""

import json
from pathlib import Path

import pytest

from tests.assertions import printed_by

# A kernel's signatures are those that it was called with in this process, compiled or loaded.
CHILD = """
import json, sys
from pathlib import Path
from evener.cli import main
from evener.cli.precompile.compiler import kernels
from evener.cli.precompile.first import FIRST
sys.path.insert(0, "examples")
import demo

def signatures():
    return {(name, str(one)) for name, kernel in kernels().items() for one in kernel.signatures}

for piece in FIRST.values():
    piece()
before, folder = signatures(), Path(sys.argv[1])
names = ("mesh.su2", "machine.toml", "flow.toml", "mesh.plan", "plan.html")
mesh, machine, kernel, made, page = (str(folder / name) for name in names)
Path(kernel).write_text(demo.KERNEL)
Path(machine).write_text(demo.MACHINE + "".join(demo.NODES.format(n=n) for n in range(2)))
for words in (
    ["generate", "airfoil", "--n-triangles", "40000", "--seed", "7", "-o", mesh],
    ["plan", mesh, "--machine", machine, "--kernel", kernel, "-o", made, "--report", page],
    ["export", made, mesh, "--to", "vtu", "-o", str(folder / "plan.vtu")],
):
    assert main([*words, "--quiet"]) == 0
print(json.dumps(sorted(name for name, _ in signatures() - before)))
"""


@pytest.mark.slow
def test_a_plan_of_a_mesh_compiles_hardly_anything_else(tmp_path):
    """In a process of its own: in this one other tests have called kernels."""
    new = printed_by(CHILD, tmp_path, cwd=Path(__file__).parents[3])
    rare = "partitioning.repair.routing_kernels"  # of vertices that must go farther than a block
    others = [name for name in json.loads(new) if not name.startswith(rare)]
    assert others == []
