"""Divided .msh files, written and read back: elements, tags, entities, groups and partitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.generating.delaunay import triangle_mesh
from evener.graphs.mesh import Mesh
from evener.integrations import gmsh
from evener.integrations.gmsh import divided
from evener.io.meshes import gmsh_writing
from evener.io.meshes.gmsh import read_elements
from evener.io.meshes.gmsh_elements import (
    KINDS,
    ORDER,
    SIZES,
    GmshElements,
    elements_of,
    in_gmsh_order,
    in_vtk_order,
)
from evener.io.meshes.gmsh_writing import msh_2, msh_4
from evener.io.read import read
from evener.io.sources import open_source
from tests.io import mesh_samples as samples

# A bar of two squares: its ends are points, its lower side a group, a line stands apart.
BAR = """\
$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
1 7 "below it"
2 9 "body"
$EndPhysicalNames
$Nodes
8
10 0 0 0
20 1 0 0
30 1 1 0
40 0 1 0
50 2 0 0
60 2 1 0
70 5 5 0
80 6 5 1
$EndNodes
$Elements
7
1 15 2 0 3 10
2 15 2 0 4 20
3 1 2 7 1 10 20
4 1 2 7 1 20 50
5 1 2 0 2 70 80
16 3 2 9 1 20 50 60 30
15 3 2 9 1 10 20 30 40
$EndElements
"""


def written(put, elements, write, k=2):
    pieces = msh_2(elements) if write is msh_2 else msh_4(elements, k)
    return open_source(put(b"".join(pieces), "out.msh"))


def told(elements):
    """What is said of each element, by its tag."""
    starts, nodes = elements.starts, elements.node_tags[elements.corners]
    columns = elements.types, elements.entities, elements.groups, elements.partitions
    return {
        int(tag): (*(int(column[i]) for column in columns), *nodes[starts[i] : starts[i + 1]])
        for i, tag in enumerate(elements.tags)
    }


@pytest.mark.parametrize("write", [msh_2, msh_4])
def test_a_bar_by_hand(put, write):
    whole, loose = divided(read_elements(open_source(put(BAR, "a.msh"))), np.array([1, 0]))
    source = written(put, whole, write)
    found = read_elements(source)
    assert loose == 1
    assert told(found) == {
        1: (15, 3, 0, 1, 10),
        2: (15, 4, 0, 1, 20),  # a corner of both squares
        3: (1, 1, 7, 1, 10, 20),
        4: (1, 1, 7, 2, 20, 50),
        5: (1, 2, 0, 1, 70, 80),  # touches no square
        15: (3, 1, 9, 1, 10, 20, 30, 40),
        16: (3, 1, 9, 2, 20, 50, 60, 30),
    }
    assert b'"below it"' in found.names
    where = dict(zip(found.node_tags.tolist(), found.points.tolist(), strict=True))
    assert where[80] == [6, 5, 1]
    assert len(where) == 8


@pytest.mark.parametrize("write", [msh_2, msh_4])
def test_a_divided_file_is_divided_anew(put, write):
    first, _ = divided(read_elements(open_source(put(BAR, "a.msh"))), np.array([1, 0]))
    again = read_elements(written(put, first, write))
    cells = again.tags[again.is_cell]
    second, _ = divided(again, np.where(cells == 15, 1, 0).astype(np.int32))
    found = told(read_elements(written(put, second, write)))
    assert {tag: said[1:4] for tag, said in found.items()} == {
        1: (3, 0, 2),
        2: (4, 0, 1),
        3: (1, 7, 2),
        4: (1, 7, 1),
        5: (2, 0, 1),
        15: (1, 9, 2),
        16: (1, 9, 1),
    }


# Two quads in two partitions, as Gmsh writes them: the line between them is no boundary's.
DIVIDED = """\
$MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
0 1 1 0
1 0 0 0 2 0 0 1 7 0
1 0 0 0 2 1 0 1 9 0
$EndEntities
$PartitionedEntities
2
1
3 2
0 2 2 0
2 1 1 1 1 0 0 0 1 0 0 1 7 0
3 2 1 2 1 2 1 0 0 1 1 0 0 0
2 2 1 1 1 0 0 0 1 1 0 1 9 1 3
3 2 1 1 2 1 0 0 2 1 0 0 1 -3
$EndPartitionedEntities
$Nodes
1 6 1 6
2 2 0 6
1
2
3
4
5
6
0 0 0
1 0 0
1 1 0
0 1 0
2 0 0
2 1 0
$EndNodes
$Elements
4 4 1 4
1 2 1 1
1 1 2
1 3 1 1
2 2 3
2 2 3 1
3 1 2 3 4
2 3 3 1
4 2 5 6 3
$EndElements
"""


def test_what_gmsh_divided(put):
    reading = read(put(DIVIDED, "a.msh"))
    assert reading.mesh.cell_data["partition"].tolist() == [1, 2]
    assert reading.mesh.cell_data["physical"].tolist() == [9, 9]  # the second is its parent's
    found = read_elements(open_source(put(DIVIDED, "a.msh")))
    assert found.tags.tolist() == [1, 3, 4]
    assert found.entities.tolist() == [1, 1, 1]
    for cut in ("2\n1\n3 2\n", "0 2 2 0\n2 1 1 1 1 0"):
        with pytest.raises(InputError, match="entities ends early"):
            head, tail = DIVIDED.split(cut)
            read(put(head + cut[:3] + tail[tail.index("\n$EndPart") :], "a.msh"))


def test_version_4_names_all_partitions(put):
    whole, _ = divided(read_elements(open_source(put(BAR, "a.msh"))), np.array([1, 0]))
    text = written(put, whole, msh_4, k=5).data.decode()
    assert "$PartitionedEntities\n5\n0\n2 3 2 0\n" in text


def test_all_groups_of_an_entity_are_kept(put):
    text = samples.GMSH_41.replace("1 0 0 0 1 1 0 1 5 0", "1 0 0 0 1 1 0 2 5 -6 0")
    whole = read_elements(open_source(put(text, "a.msh")))
    groups = dict(whole.physical)
    assert groups == {(2, 1): [5, -6], (2, 2): [-6]}
    cells = int(np.count_nonzero(whole.is_cell))
    found = read_elements(written(put, divided(whole, np.zeros(cells, np.int32))[0], msh_4))
    assert {entity: listed for entity, listed in found.physical.items() if listed} == groups


@pytest.mark.parametrize("number", sorted(KINDS.keys() - {15}))  # a mesh is not of points
def test_every_type_and_its_order(put, number):
    kind, size = KINDS[number]
    points = np.random.default_rng(31).random((size, 3))
    mesh = Mesh(points, np.array([0, size]), np.arange(size)[::-1].copy(), np.array([kind]))
    for write in (msh_2, msh_4):
        whole, _ = divided(elements_of(mesh), np.zeros(1, np.int32))
        again = read(written(put, whole, write).path).mesh
        assert again.kinds.tolist() == [kind]
        assert np.array_equal(again.points[again.corners], mesh.points[mesh.corners])


def test_orders_are_inverse():
    types = np.array([*ORDER, 2])
    corners = np.arange(sum(KINDS[number][1] for number in types)) + 100
    assert np.array_equal(in_vtk_order(in_gmsh_order(corners, types), types), corners)


def test_what_gmsh_has_not():
    polygon = Mesh(np.zeros((5, 2)), np.array([0, 5]), np.arange(5), np.array([7]))
    with pytest.raises(InputError, match="cell 0 has 5 points; Gmsh has no such polygons"):
        elements_of(polygon)
    mesh = Mesh(np.zeros((3, 0)), np.array([0, 3]), np.arange(3), np.array([5]))
    with pytest.raises(InputError, match="no coordinates"):
        elements_of(mesh)


def test_many_elements_are_written_in_pieces(put, monkeypatch):
    monkeypatch.setattr(gmsh_writing, "_AT_ONCE", 7)
    monkeypatch.setattr(gmsh, "_AT_ONCE", 2)
    mesh = triangle_mesh(40, seed=31)
    part = np.arange(mesh.n_cells, dtype=np.int32) % 3
    for write in (msh_2, msh_4):
        whole, loose = divided(elements_of(mesh), part)
        found = read_elements(written(put, whole, write, k=3))
        assert loose == 0
        assert told(found) == told(whole)


@pytest.mark.slow
@given(data=st.data())
def test_any_mesh_reads_back(tmp_path_factory, data):
    draw = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    whole = random_elements(draw)
    k = int(draw.integers(1, 5))
    cells = np.flatnonzero(whole.is_cell)
    part = draw.integers(0, k, cells.size).astype(np.int32)
    whole, _ = divided(whole, part)
    assert np.array_equal(whole.partitions[cells], part + 1)
    assert_lower_are_by_cells(whole, part)
    for write in (msh_2, msh_4):
        path = tmp_path_factory.mktemp("msh") / "out.msh"
        path.write_bytes(b"".join(msh_2(whole) if write is msh_2 else msh_4(whole, k)))
        found = read_elements(open_source(path))
        assert told(found) == told(whole)
        places = {int(tag): i for i, tag in enumerate(found.node_tags)}
        order = [places[int(tag)] for tag in whole.node_tags]
        assert np.array_equal(found.points[order], whole.points)
        assert read(path).mesh.cell_data["partition"].size == cells.size


def random_elements(draw):
    """Return elements of all dimensions and types with tags, entities and groups at random."""
    n_points, n = int(draw.integers(30, 60)), int(draw.integers(1, 40))
    types = draw.choice([one for one, (_, size) in KINDS.items() if size <= 27], n)
    types[0] = draw.choice([1, 2, 4])
    entities = draw.integers(1, 4, n)
    groups = entities * draw.integers(0, 2) * 3  # one group for an entity, or none
    return GmshElements(
        node_tags=draw.permutation(3 * n_points)[:n_points] + 1,
        points=draw.standard_normal((n_points, 3)),
        types=types,
        corners=np.concatenate([draw.permutation(n_points)[: SIZES[t]] for t in types]),
        tags=draw.permutation(5 * n)[:n] + 1,
        entities=entities,
        groups=groups,
        partitions=np.zeros(n, np.int64),
    )


def assert_lower_are_by_cells(whole, part):
    """Every element of lower dimension is where the cell is that shares most points with it."""
    nodes = [set(row) for row in np.split(whole.corners, whole.starts[1:-1])]
    cells = np.flatnonzero(whole.is_cell)
    for i in np.flatnonzero(~whole.is_cell):
        shared = np.array([len(nodes[i] & nodes[cell]) for cell in cells])
        best = part[shared == shared.max()].min() if shared.max() else 0
        assert whole.partitions[i] == best + 1
