"""MFEM itself: every part that it extracts has our elements, and what it writes can be read."""

import io
import warnings

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.errors import InputError, ToolError, UsageError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.integrations import mfem as ours
from evener.io.sources import open_source
from evener.io.write import write_mesh
from tests.integrations.programs import package
from tests.io.meshes.test_gmsh_writing import BAR

pytestmark = pytest.mark.integrations
SHAPES = ["TRIANGLE", "QUADRILATERAL", "TETRAHEDRON", "HEXAHEDRON", "WEDGE", "PYRAMID"]


@pytest.fixture
def mfem():
    package("mfem")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SWIG, on import
        import mfem.ser
    return mfem.ser


def block_of(mfem, shape):
    """A mesh of MFEM's of one shape."""
    kind = getattr(mfem.Element, shape)
    if shape in ("TRIANGLE", "QUADRILATERAL"):
        return mfem.Mesh.MakeCartesian2D(9, 7, kind)
    return mfem.Mesh.MakeCartesian3D(4, 3, 5, kind)


def centres(mfem, mesh):
    """(n, d) the mean of each element's vertices."""
    points = np.array([mesh.GetVertexArray(i) for i in range(mesh.GetNV())])
    return np.array([points[mesh.GetElementVertices(i)].mean(0) for i in range(mesh.GetNE())])


@pytest.mark.parametrize("shape", SHAPES)
def test_every_part_has_our_elements(mfem, shape):
    mesh = block_of(mfem, shape)
    plan = ev.plan(ours._mesh_of(mesh), [1, 2, 5])
    part = ours.partitioning(plan, mesh)
    partitioner, every = mfem.MeshPartitioner(mesh, 3, part.GetData()), centres(mfem, mesh)
    for block in range(3):
        found = mfem.MeshPart()
        partitioner.ExtractPart(block, found)
        own = np.flatnonzero(plan.partition.part == block)
        assert found.num_elements == own.size
        assert np.allclose(centres(mfem, found.GetMesh()), every[own])


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_mfem_writes_is_read(mfem, tmp_path, shape, order):
    mesh, path = block_of(mfem, shape), str(tmp_path / "a.mesh")
    wanted = centres(mfem, mesh)
    if order:
        mesh.SetCurvature(order)
    mesh.Print(path)
    found = ev.read(path).mesh
    assert np.array_equal(found.corners, ours._mesh_of(mesh).corners)
    assert np.allclose(found.centres(), wanted)
    plan = ev.plan(path, [1, 3])
    assert ours.partitioning(plan, mfem.Mesh(path, 1, 1)).Size() == found.n_cells


@pytest.fixture
def planned(mfem, tmp_path):
    """A .msh file of triangles with its plan for three unlike devices, as MFEM reads it."""
    write_mesh(tmp_path / "a.su2", triangle_mesh(300, seed=31))
    ev.write_plan(tmp_path / "a.plan", ev.plan(tmp_path / "a.su2", 2))
    command = ["export", str(tmp_path / "a.plan"), str(tmp_path / "a.su2"), "--to", "gmsh2"]
    assert main([*command, "-o", str(tmp_path / "a.msh"), "--quiet"]) == 0
    plan = ev.plan(tmp_path / "a.msh", [1, 2, 5])
    return mfem.Mesh(str(tmp_path / "a.msh"), 1, 1), plan


def test_a_file_that_both_read(mfem, planned):
    mesh, plan = planned
    part = ours.partitioning(plan, mesh)
    assert [part[i] for i in range(part.Size())] == plan.partition.part.tolist()


def test_the_meshes_of_all_ranks(mfem, planned, tmp_path):
    mesh, plan = planned
    paths = ours.write_parts(plan, mesh, tmp_path / "ranks" / "a.mesh")
    assert [path.name for path in paths] == [f"a.mesh.00000{rank}" for rank in range(3)]
    every = centres(mfem, mesh)
    for rank, path in enumerate(paths):
        text = path.read_text()
        assert f"number_of_groups {1 + shared_groups(tmp_path / 'a.msh', plan, rank)}" in text
        found = mfem.Mesh(str(path), 1, 0, False)  # the serial part of a parallel file
        own = np.flatnonzero(plan.partition.part == rank)
        assert np.allclose(centres(mfem, found), every[own])
    with pytest.raises(UsageError, match="already exists, and 2 more files"):
        ours.write_parts(plan, mesh, tmp_path / "ranks" / "a.mesh")
    ours.write_parts(plan, mesh, tmp_path / "ranks" / "a.mesh", force=True)


def shared_groups(path, plan, rank):
    """How many different sets of ranks this one shares vertices with."""
    mesh = ev.read(path).mesh
    owners = [set() for _ in range(mesh.n_points)]
    for cell, block in enumerate(plan.partition.part):
        for corner in mesh.corners[mesh.offsets[cell] : mesh.offsets[cell + 1]]:
            owners[corner].add(int(block))
    return len({frozenset(one) for one in owners if rank in one and len(one) > 1})


def test_an_empty_block(mfem, planned, tmp_path):
    mesh, _ = planned
    part = np.where(np.arange(mesh.GetNE()) < 100, 0, 2)
    paths = ours.write_parts(ev.Partition(part, 3), mesh, tmp_path / "b")
    assert "elements\n0\n" in paths[1].read_text()


def test_a_curved_mesh(mfem, tmp_path):
    mesh = block_of(mfem, "TETRAHEDRON")
    plan = ev.plan(ours._mesh_of(mesh), [1, 3])
    mesh.SetCurvature(2)
    paths = ours.write_parts(plan, mesh, tmp_path / "c")
    assert "FiniteElementSpace" in paths[0].read_text()


def test_other_meshes_are_refused(mfem, planned, tmp_path):
    mesh, plan = planned
    with pytest.raises(
        InputError, match="the plan divides 3 cells, but the mesh that MFEM holds has"
    ):
        ours.partitioning([0, 1, 1], mesh)
    reordered = mfem.Mesh(mesh)
    order = mfem.intArray(np.random.default_rng(31).permutation(mesh.GetNE()).tolist())
    reordered.ReorderElements(order)
    for refused in (ours.partitioning, lambda *both: ours.write_parts(*both, tmp_path / "d")):
        with pytest.raises(InputError, match="are in another order"):
            refused(plan, reordered)
        with pytest.raises(InputError, match="points of its mesh"):
            refused(ev.plan(ev.read(tmp_path / "a.msh", by="points"), 2), mesh)
    mesh.UniformRefinement()
    with pytest.raises(InputError, match=r"has 2,\d\d\d"):
        ours.partitioning(plan, mesh)
    assert not list(tmp_path.glob("d*"))


def test_the_partitioning_file(mfem, planned, tmp_path):
    """What mesh-explorer would have written for these blocks."""
    mesh, plan = planned
    ev.write_plan(tmp_path / "x.plan", plan)
    target = tmp_path / "partitioning.txt"
    files = [str(tmp_path / "x.plan"), str(tmp_path / "a.msh")]
    assert main(["export", *files, "--to", "mfem", "-o", str(target), "--quiet"]) == 0
    words = io.StringIO(target.read_text()).read().split()
    assert words[:4] == ["number_of_elements", str(mesh.GetNE()), "number_of_processors", "3"]
    part = mfem.intArray([int(word) for word in words[4:]])
    found = mfem.MeshPart()
    mfem.MeshPartitioner(mesh, 3, part.GetData()).ExtractPart(2, found)
    assert found.num_elements == np.count_nonzero(plan.partition.part == 2)


def test_without_mfem(monkeypatch, planned):
    import sys

    mesh, plan = planned
    monkeypatch.setitem(sys.modules, "mfem.ser", None)
    with pytest.raises(ToolError, match="cannot import mfem"):
        ours.partitioning(plan, mesh)


GROUPS = BAR.replace("7\n1 15 2 0 3 10\n2 15 2 0 4 20\n", "4\n").replace("5 1 2 0 2 70 80\n", "")


def test_groups_are_mfems_attributes(mfem, tmp_path):
    """In version 2.2, as the page on Gmsh says; of 4.1 with partitions MFEM overlooks them."""
    (tmp_path / "a.msh").write_text(GROUPS.replace("15 3 2 9 1", "15 3 2 8 1"))
    ev.write_plan(tmp_path / "a.plan", ev.plan(tmp_path / "a.msh", 2))
    found = {}
    for to in ("gmsh", "gmsh2"):
        target = tmp_path / f"{to}.msh"
        command = ["export", str(tmp_path / "a.plan"), str(tmp_path / "a.msh"), "--to", to]
        assert main([*command, "-o", str(target), "--quiet"]) == 0
        mesh = mfem.Mesh(str(target), 1, 1)
        inside = [mesh.GetAttribute(i) for i in range(mesh.GetNE())]
        found[to] = inside, [mesh.GetBdrAttribute(i) for i in range(mesh.GetNBE())]
    assert found == {"gmsh": ([1, 1], [1, 1]), "gmsh2": ([9, 8], [7, 7])}


@pytest.mark.slow
def test_a_real_mesh(mfem, tmp_path, data_dir):
    path = data_dir / "meshes" / "mfem_anu.msh.zst"
    source = tmp_path / "a.msh"
    source.write_bytes(open_source(path).data)
    plan = ev.plan(source, [1, 1, 4, 2], preset="fast")
    mesh = mfem.Mesh(str(source), 1, 1)
    part = ours.partitioning(plan, mesh)
    partitioner = mfem.MeshPartitioner(mesh, 4, part.GetData())
    for block in range(4):
        found = mfem.MeshPart()
        partitioner.ExtractPart(block, found)
        assert found.num_elements == np.count_nonzero(plan.partition.part == block)
