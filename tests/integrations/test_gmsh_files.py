"""evener export --to gmsh, gmsh2: what is kept of a mesh, what is lost and said, what refused."""

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.graphs.generating.delaunay import triangle_mesh
from evener.io.meshes.gmsh import read_elements
from evener.io.sources import open_source
from evener.io.write import write_mesh
from tests.io import mesh_samples as samples
from tests.io.meshes.test_gmsh_writing import BAR, told

FORMATS = ["gmsh", "gmsh2"]


@pytest.fixture
def planned(tmp_path):
    """Return a plan for two devices of a text as a file of a name, and the file."""

    def make(text, name, *options):
        path, plan = tmp_path / name, tmp_path / "x.plan"
        path.write_text(text)
        command = ["plan", str(path), "--speeds", "1,3", "-o", str(plan), "--quiet", *options]
        assert main(command) == 0
        return plan, path

    return make


def export(planned, to, target, *more):
    plan, path = planned
    return main(["export", str(plan), str(path), "--to", to, "-o", str(target), *more])


@pytest.mark.parametrize("to", FORMATS)
def test_a_msh_file_is_kept_whole(planned, tmp_path, capsys, to):
    target = tmp_path / "divided.msh"
    made = planned(BAR, "bar.msh")
    assert export(made, to, target) == 0
    assert "1 element not touching any cell: put into partition 1." in capsys.readouterr().err
    before = told(read_elements(open_source(made[1])))
    after = told(read_elements(open_source(target)))
    assert {tag: said[:3] + said[4:] for tag, said in after.items()} == {
        tag: said[:3] + said[4:] for tag, said in before.items()
    }
    part = ev.read_plan(made[0]).partition.part
    assert [after[16][3] - 1, after[15][3] - 1] == part.tolist()  # in this order in the file
    assert ev.read(target).mesh.cell_data["physical"].tolist() == [9, 9]


@pytest.mark.parametrize("to", FORMATS)
def test_another_mesh_has_its_cells(tmp_path, capsys, to):
    mesh = triangle_mesh(60, seed=31)
    path, target = tmp_path / "a.su2", tmp_path / "a.msh"
    write_mesh(path, mesh)
    assert main(["plan", str(path), "--k", "3", "-o", str(tmp_path / "a.plan"), "--quiet"]) == 0
    assert export((tmp_path / "a.plan", path), to, target) == 0
    assert "no boundary elements or physical groups: only .msh" in capsys.readouterr().err
    found = read_elements(open_source(target))
    order = np.argsort(found.tags)
    plan = ev.read_plan(tmp_path / "a.plan")
    assert (found.partitions[order] - 1).tolist() == plan.partition.part.tolist()
    corners = found.node_tags[found.corners].reshape(-1, 3)[order] - 1
    assert np.array_equal(corners.ravel(), mesh.corners)


def test_what_is_lost_is_said(planned, tmp_path, capsys):
    periodic = "$Periodic\n0\n$EndPeriodic\n$NodeData\n$EndNodeData\n"
    assert export(planned(BAR + periodic, "a.msh"), "gmsh", tmp_path / "b.msh") == 0
    assert "These sections are not written: $Periodic, $NodeData." in capsys.readouterr().err
    several = samples.GMSH_41.replace("1 0 0 0 1 1 0 1 5 0", "1 0 0 0 1 1 0 2 5 6 0")
    assert several != samples.GMSH_41
    assert export(planned(several, "a.msh"), "gmsh2", tmp_path / "c.msh") == 0
    assert "stores only the first physical group" in capsys.readouterr().err
    assert export(planned(several, "a.msh"), "gmsh", tmp_path / "d.msh") == 0
    assert "keeps the first" not in capsys.readouterr().err


def test_the_file_that_is_named_is_replaced(planned, tmp_path):
    made, target = planned(BAR, "bar.msh"), tmp_path / "divided.msh"
    target.write_text("old")
    assert export(made, "gmsh", made[1], "--force") == 2  # never over the mesh itself
    assert export(made, "gmsh", target) == 0
    assert target.read_text().startswith("$MeshFormat\n4.1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BAR.replace("16 3 2 9 1 20 50 60 30\n15 3 2 9 1 10 20 30 40",
                     "15 3 2 9 1 10 20 30 40\n16 3 2 9 1 20 50 60 30"), "was changed since"),
        (BAR.replace("16 3 2 9 1 20 50 60 30\n", "").replace("\n7\n", "\n6\n"), "1 vertices"),
    ],
)  # fmt: skip
def test_another_mesh_is_refused(planned, tmp_path, capsys, text, words):
    made = planned(BAR, "bar.msh")
    assert made[1].write_text(text)
    assert text != BAR
    assert export(made, "gmsh", tmp_path / "b.msh") == 3
    assert words in capsys.readouterr().err
    assert not (tmp_path / "b.msh").exists()


PENTAGONS = (
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv .5 2 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\nf 1 2 3 4 5\nf 2 6 7 3\n"
)
GRAPH = "4 3\n2\n1 3\n2 4\n3\n"


@pytest.mark.parametrize("to", FORMATS)
def test_what_gmsh_has_not_is_refused(planned, tmp_path, capsys, to):
    target = tmp_path / "b.msh"
    assert export(planned(BAR, "bar.msh", "--by", "points"), to, target) == 2
    assert "Gmsh divides cells, but this plan divides points" in capsys.readouterr().err
    assert export(planned(GRAPH, "a.graph"), to, target) == 2
    assert "needs a mesh, but the file contains a graph" in capsys.readouterr().err
    assert export(planned(BAR, "bar.msh"), to, tmp_path / "b.vtk") == 2
    assert "the file name must end in .msh" in capsys.readouterr().err
    assert export(planned(PENTAGONS, "a.obj"), to, target) == 3
    assert "cell 0 has 5 points; Gmsh has no such polygons" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "x.plan"), "--to", to, "-o", str(target)]) == 2
    assert f"{to} needs the mesh" in capsys.readouterr().err
    assert not target.exists()


def test_polyhedra_are_refused(tmp_path, capsys):
    folder = tmp_path / "polyMesh"
    folder.mkdir()
    for name, text in samples.FOAM.items():
        (folder / name).write_text(text)
    plan = tmp_path / "x.plan"
    assert main(["plan", str(folder), "--k", "1", "-o", str(plan), "--quiet"]) == 0
    assert export((plan, folder), "gmsh", tmp_path / "b.msh") == 3
    assert "is a mesh of polyhedra, which Gmsh does not support" in capsys.readouterr().err
    assert not (tmp_path / "b.msh").exists()
