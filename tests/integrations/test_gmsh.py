"""Gmsh itself: it reads our files without a warning, and divides its model as the plan says."""

import signal
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import evener as ev
from evener.cli import main
from evener.errors import InputError, ToolError, UsageError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.integrations import gmsh as ours
from evener.integrations.gmsh import divided
from evener.io.meshes.gmsh import read_elements
from evener.io.meshes.gmsh_elements import elements_of
from evener.io.meshes.gmsh_writing import msh_2, msh_4
from evener.io.sources import open_source
from evener.io.write import write_mesh
from tests.integrations.programs import package
from tests.io.meshes.test_gmsh_writing import told as said_of

pytestmark = pytest.mark.integrations


@pytest.fixture
def gmsh():
    """Gmsh, started; what it says is recorded."""
    package("gmsh")
    import gmsh

    gmsh.initialize(interruptible=False)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # Gmsh resets what Python has set
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.logger.start()
    yield gmsh
    gmsh.logger.stop()
    gmsh.finalize()


def tiles(gmsh):
    """Make squares of quads and of triangles side by side, with groups, and one of no group."""
    for x in range(3):
        gmsh.model.occ.addRectangle(x, 0, 0, 1, 1)
    gmsh.model.occ.fragment([(2, 1)], [(2, 2), (2, 3)])
    gmsh.model.occ.synchronize()
    gmsh.option.setNumber("Mesh.Algorithm", 8)
    for tag in (1, 3):
        gmsh.model.mesh.setRecombine(2, tag)
    gmsh.model.mesh.setSize(gmsh.model.getEntities(0), 0.25)
    gmsh.model.mesh.generate(2)
    gmsh.model.addPhysicalGroup(1, [1, 2], 7, "rim")
    gmsh.model.addPhysicalGroup(2, [1, 2], 9, "body")
    gmsh.option.setNumber("Mesh.SaveAll", 1)


def box(gmsh):
    """Make tetrahedra of second order in two joined boxes."""
    for x in range(2):
        gmsh.model.occ.addBox(x, 0, 0, 1, 1, 1)
    gmsh.model.occ.fragment([(3, 1)], [(3, 2)])
    gmsh.model.occ.synchronize()
    gmsh.model.mesh.setSize(gmsh.model.getEntities(0), 0.5)
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)


def write(gmsh, path, version):
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.write(str(path))


@pytest.fixture(params=[(tiles, 4.1), (tiles, 2.2), (box, 4.1), (box, 4.0), (box, 2.2)],
                ids=lambda made: f"{made[0].__name__}-{made[1]}")  # fmt: skip
def planned(request, gmsh, tmp_path):
    """A file that Gmsh wrote, and its plan for three unlike devices."""
    make, version = request.param
    make(gmsh)
    mesh = tmp_path / "mesh.msh"
    write(gmsh, mesh, version)
    gmsh.clear()
    plan = ev.plan(mesh, [1, 2, 5])
    ev.write_plan(tmp_path / "mesh.plan", plan)
    return mesh, plan


def wanted(mesh, plan):
    """The partition of each cell, by its tag in the file."""
    elements = read_elements(open_source(mesh))
    tags = elements.tags[elements.is_cell].tolist()
    return dict(zip(tags, (plan.partition.part + 1).tolist(), strict=True))


def told(gmsh, dim):
    """The partitions of each element of a dimension, by its tag, and its entity's groups."""
    found = {}
    for dim_, tag in gmsh.model.getEntities(dim):
        parts = tuple(gmsh.model.getPartitions(dim_, tag).tolist())
        for tags in gmsh.model.mesh.getElements(dim_, tag)[1]:
            found |= dict.fromkeys(map(int, tags), parts)
    return found


def warnings_of(gmsh):
    return [said for said in gmsh.logger.get() if said.startswith(("Warning", "Error"))]


@pytest.mark.parametrize("to", ["gmsh", "gmsh2"])
def test_gmsh_reads_the_partitions(gmsh, planned, tmp_path, to):
    mesh, plan = planned
    target = tmp_path / "divided.msh"
    command = ["export", str(tmp_path / "mesh.plan"), str(mesh), "--to", to, "-o", str(target)]
    assert main([*command, "--quiet"]) == 0
    gmsh.open(str(mesh))
    dim = gmsh.model.getDimension()
    groups = named_groups(gmsh)
    lower = [told(gmsh, one).keys() for one in range(dim)]
    gmsh.clear()
    gmsh.open(str(target))
    assert warnings_of(gmsh) == []
    assert gmsh.model.getNumberOfPartitions() == 3
    assert told(gmsh, dim) == {tag: (part,) for tag, part in wanted(mesh, plan).items()}
    assert named_groups(gmsh) == groups
    for one, tags in enumerate(lower):
        found = told(gmsh, one)
        assert tags <= found.keys()  # reading 2.2 Gmsh adds elements between partitions
        assert all(len(found[tag]) == 1 for tag in tags)


def named_groups(gmsh):
    """Elements of each physical group, by its name."""
    found = {}
    for dim, group in gmsh.model.getPhysicalGroups():
        name = gmsh.model.getPhysicalName(dim, group)
        for tag in gmsh.model.getEntitiesForPhysicalGroup(dim, group):
            for tags in gmsh.model.mesh.getElements(dim, tag)[1]:
                found.setdefault((dim, group, name), set()).update(map(int, tags))
    return found


def test_a_mesh_of_another_format(gmsh, tmp_path):
    write_mesh(tmp_path / "a.su2", triangle_mesh(200, seed=31))
    plan = ev.plan(tmp_path / "a.su2", [1, 3])
    ev.write_plan(tmp_path / "a.plan", plan)
    for to in ("gmsh", "gmsh2"):
        target = tmp_path / f"{to}.msh"
        command = ["export", str(tmp_path / "a.plan"), str(tmp_path / "a.su2"), "--to", to]
        assert main([*command, "-o", str(target), "--quiet"]) == 0
        gmsh.clear()
        gmsh.open(str(target))
        assert told(gmsh, 2) == {i + 1: (b + 1,) for i, b in enumerate(plan.partition.part)}
    assert warnings_of(gmsh) == []


def test_the_model_is_divided(gmsh, planned):
    mesh, plan = planned
    gmsh.open(str(mesh))
    dim = gmsh.model.getDimension()
    ours.partition(plan, mesh=mesh)
    assert told(gmsh, dim) == {tag: (part,) for tag, part in wanted(mesh, plan).items()}
    other = ev.plan(mesh, 2)
    ours.partition(other, mesh=mesh)  # divided anew
    assert told(gmsh, dim) == {tag: (part,) for tag, part in wanted(mesh, other).items()}
    assert warnings_of(gmsh) == []
    with pytest.raises(UsageError, match="already divided"):
        ours.partition(plan)


def test_a_model_in_the_order_of_version_4(gmsh, tmp_path):
    tiles(gmsh)
    write(gmsh, tmp_path / "mesh.msh", 4.1)
    plan = ev.plan(tmp_path / "mesh.msh", [1, 2, 5])
    ours.partition(plan)
    assert told(gmsh, 2) == {
        tag: (part,) for tag, part in wanted(tmp_path / "mesh.msh", plan).items()
    }


def test_blocks_of_any_tool(gmsh, tmp_path):
    tiles(gmsh)
    write(gmsh, tmp_path / "mesh.msh", 4.1)
    n = ev.read(tmp_path / "mesh.msh").graph.n
    part = np.where(np.arange(n) < 20, 2, 0)  # block 1 is empty
    ours.partition(part, mesh=tmp_path / "mesh.msh")
    sizes = np.bincount([part for (part,) in told(gmsh, 2).values()])
    assert sizes.tolist() == [0, n - 20, 0, 20]


def test_other_meshes_are_refused(gmsh, tmp_path):
    tiles(gmsh)
    for version in (4.1, 2.2):
        write(gmsh, tmp_path / f"{version}.msh", version)
    plan = ev.plan(tmp_path / "2.2.msh", [1, 2, 5])
    with pytest.raises(InputError, match="are in another order"):
        ours.partition(plan)  # triangles come first in 2.2
    with pytest.raises(InputError, match="not the file that the plan was made from"):
        ours.partition(plan, mesh=tmp_path / "4.1.msh")
    with pytest.raises(InputError, match="other numbers for them"):
        ours.partition(plan, mesh=tmp_path / "2.2.msh")  # Gmsh numbered anew
    with pytest.raises(InputError, match=r"divides 3 cells, but Gmsh's current model has \d"):
        ours.partition([0, 1, 1])
    with pytest.raises(InputError, match="points of its mesh"):
        ours.partition(ev.plan(ev.read(tmp_path / "2.2.msh", by="points"), 2))
    assert gmsh.model.getNumberOfPartitions() == 0
    (tmp_path / "x.vtk").write_text("# vtk")
    with pytest.raises(InputError, match=r"is not a \.msh file"):
        ours.partition([0] * ev.read(tmp_path / "4.1.msh").graph.n, mesh=tmp_path / "x.vtk")
    gmsh.clear()
    with pytest.raises(InputError, match="has no mesh"):
        ours.partition(plan)


@pytest.mark.parametrize("version", [4.1, 2.2])
@pytest.mark.parametrize("make", [tiles, box])
@pytest.mark.parametrize("parts", [0, 3])
def test_binary_files_are_read_as_text_is(gmsh, tmp_path, make, version, parts):
    make(gmsh)
    if parts:
        gmsh.model.mesh.partition(parts)
    found = []
    for binary in (0, 1):
        gmsh.option.setNumber("Mesh.Binary", binary)
        write(gmsh, tmp_path / f"{binary}.msh", version)
        found.append(read_elements(open_source(tmp_path / f"{binary}.msh")))
    assert said_of(found[1]) == said_of(found[0])
    assert np.allclose(found[1].points, found[0].points)
    assert found[1].names == found[0].names
    assert found[1].physical == found[0].physical
    assert set(found[1].partitions) == ({1, 2, 3} if parts else {0})
    gmsh.clear()
    gmsh.open(str(tmp_path / "1.msh"))
    if not parts:
        ours.partition(ev.plan(tmp_path / "1.msh", 2), mesh=tmp_path / "1.msh")
        assert gmsh.model.getNumberOfPartitions() == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mfem_anu", "fluidity_MMS_F"])
@pytest.mark.parametrize("to", ["gmsh", "gmsh2"])
def test_real_meshes(gmsh, tmp_path, data_dir, name, to):
    source = data_dir / "meshes" / f"{name}.msh.zst"
    plan = ev.plan(source, [1, 1, 4, 2], preset="fast")
    ev.write_plan(tmp_path / "x.plan", plan)
    target = tmp_path / "divided.msh"
    command = ["export", str(tmp_path / "x.plan"), str(source), "--to", to, "-o", str(target)]
    assert main([*command, "--quiet"]) == 0
    gmsh.open(str(target))
    found = told(gmsh, gmsh.model.getDimension())
    assert found == {tag: (part,) for tag, part in wanted(source, plan).items()}
    assert warnings_of(gmsh) == []
    groups = {key[:2]: len(tags) for key, tags in named_groups(gmsh).items()}
    elements = read_elements(open_source(source))
    pairs = zip(elements.dims.tolist(), elements.groups.tolist(), strict=True)
    assert groups == {pair: n for pair, n in Counter(pairs).items() if pair[1]}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_meshes(gmsh, tmp_path, seed):
    """Any tags, entities, groups and blocks: elements of both dimensions come back as written."""
    draw = np.random.default_rng(seed + 1000)
    whole, k = divided_triangles(draw)
    for number, pieces in enumerate((msh_4(whole, k), msh_2(whole))):
        path = tmp_path / f"{number}.msh"
        path.write_bytes(b"".join(pieces))
        gmsh.clear()
        gmsh.open(str(path))
        found = told(gmsh, 1) | told(gmsh, 2)
        for tag, part in zip(whole.tags.tolist(), whole.partitions.tolist(), strict=True):
            assert found[tag] == (part,)
    assert warnings_of(gmsh) == []


def divided_triangles(draw):
    """Return triangles and the lines of their rim, with tags at random, in random blocks."""
    mesh = triangle_mesh(int(draw.integers(4, 80)), seed=int(draw.integers(1000)))
    rim, cells = mesh.boundary_faces().corners, elements_of(mesh)
    n_lines = rim.size // 2
    n, k = n_lines + mesh.n_cells, int(draw.integers(1, 6))
    elements = replace(
        cells,
        node_tags=draw.permutation(2 * mesh.n_points)[: mesh.n_points] + 1,
        types=np.concatenate([np.full(n_lines, 1), cells.types]),
        corners=np.concatenate([rim, cells.corners]),
        tags=draw.permutation(3 * n)[:n] + 1,
        entities=draw.integers(1, 4, n),
        groups=np.repeat(draw.integers(0, 3, 2), [n_lines, mesh.n_cells]),
        partitions=np.zeros(n, np.int64),
    )
    return divided(elements, draw.integers(0, k, mesh.n_cells).astype(np.int32))[0], k


def test_without_gmsh(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "gmsh", None)
    with pytest.raises(ToolError, match="cannot import gmsh"):
        ours.partition([0])
