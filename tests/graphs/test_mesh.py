"""Meshes and their graphs, against sets of faces and edges collected one by one."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evener.errors import InputError
from evener.graphs.mesh import (
    HEXAHEDRON,
    LINE,
    POINT_SET,
    POLYGON,
    PYRAMID,
    QUAD,
    TETRA,
    TRIANGLE,
    VERTEX,
    WEDGE,
    Mesh,
    cells_called,
)
from tests.examples import with_examples

# Faces and edges by hand; wedges have triangles 0 1 2 below and 3 4 5 above, as in Gmsh.
FACES = {
    LINE: ["0", "1"],
    TRIANGLE: ["01", "12", "02"],
    QUAD: ["01", "12", "23", "03"],
    TETRA: ["012", "013", "023", "123"],
    HEXAHEDRON: ["0123", "4567", "0145", "1256", "2367", "0347"],
    WEDGE: ["012", "345", "0134", "1245", "0235"],
    PYRAMID: ["0123", "014", "124", "234", "034"],
}
EDGES = {
    LINE: ["01"],
    TRIANGLE: ["01", "12", "02"],
    QUAD: ["01", "12", "23", "03"],
    TETRA: ["01", "02", "03", "12", "13", "23"],
    HEXAHEDRON: ["01", "12", "23", "03", "45", "56", "67", "47", "04", "15", "26", "37"],
    WEDGE: ["01", "12", "02", "34", "45", "35", "03", "14", "25"],
    PYRAMID: ["01", "12", "23", "03", "04", "14", "24", "34"],
}
SIZES = {LINE: 2, TRIANGLE: 3, QUAD: 4, TETRA: 4, HEXAHEDRON: 8, WEDGE: 6, PYRAMID: 5}
NEEDED = {LINE: 1, TRIANGLE: 2, QUAD: 2, POLYGON: 2, POINT_SET: 1}  # points of a face at least


def mesh_of(cells, n_points, dim=3, **fields):
    """Mesh of (kind, corners) pairs, with points on a curve that meets no plane too often."""
    t = np.arange(n_points, dtype=float)
    points = np.column_stack([t, t**2 % 17, t**3 % 23])[:, :dim]
    offsets = np.cumsum([0, *(len(corners) for _, corners in cells)])
    corners = [c for _, cell in cells for c in cell]
    return Mesh(points, offsets, corners, [kind for kind, _ in cells], **fields)


def faces_of(kind, corners):
    """Sets of the points of each face that has not collapsed."""
    if kind == POINT_SET:
        faces = [{c} for c in corners]
    elif kind == POLYGON:
        faces = [{a, b} for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    else:
        faces = [{corners[int(i)] for i in face} for face in FACES[kind]]
    return [frozenset(face) for face in faces if len(face) >= NEEDED.get(kind, 3)]


def slow_dual(cells):
    cells_of = defaultdict(set)
    for i, (kind, corners) in enumerate(cells):
        for face in faces_of(kind, corners):
            cells_of[face].add(i)
    return {pair for owners in cells_of.values() for pair in combinations(sorted(owners), 2)}


def slow_nodal(cells):
    pairs = set()
    for kind, corners in cells:
        if kind == POINT_SET:
            pairs |= {tuple(sorted(pair)) for pair in combinations(corners, 2)}
        elif kind == POLYGON:
            pairs |= {tuple(sorted(face)) for face in faces_of(kind, corners)}
        else:
            pairs |= {tuple(sorted((corners[int(a)], corners[int(b)]))) for a, b in EDGES[kind]}
    return {(a, b) for a, b in pairs if a != b}


def slow_boundary(cells):
    """Faces that stand once among all faces of all cells."""
    count = defaultdict(int)
    for kind, corners in cells:
        for face in faces_of(kind, corners):
            count[face] += 1
    return {face for face, times in count.items() if times == 1}


def edges_of(graph):
    v = np.repeat(np.arange(graph.n), graph.degrees)
    return {(int(a), int(b)) for a, b in zip(v, graph.adjncy, strict=True) if a < b}


def assert_graphs(cells, n_points, dim=3):
    mesh = mesh_of(cells, n_points, dim)
    dual, nodal = mesh.dual_graph(), mesh.nodal_graph()
    assert (dual.n, nodal.n) == (len(cells), n_points)
    assert edges_of(dual) == slow_dual(cells)
    assert edges_of(nodal) == slow_nodal(cells)
    faces = mesh.boundary_faces()
    found = [
        frozenset(faces.corners[a:b].tolist())
        for a, b in zip(faces.offsets[:-1], faces.offsets[1:], strict=True)
    ]
    assert len(found) == len(set(found))
    assert set(found) == slow_boundary(cells)
    for face, owner in zip(found, faces.owner.tolist(), strict=True):
        assert face in faces_of(*cells[owner])
    centres = [mesh.points[corners].mean(axis=0) for _, corners in cells]
    assert np.allclose(dual.coords, centres)
    assert np.array_equal(nodal.coords, mesh.points)


def cells_strategy(kinds, n_points):
    def cell(kind):
        size = SIZES.get(kind)
        sizes = (size, size) if size else ((3, 7) if kind == POLYGON else (1, 5))
        corner = st.integers(0, n_points - 1)
        return st.tuples(st.just(kind), st.lists(corner, min_size=sizes[0], max_size=sizes[1]))

    return st.lists(st.sampled_from(kinds).flatmap(cell), min_size=1, max_size=12)


# Few points: cells that stand twice, faces of three cells and more, collapsed cells all happen.
@with_examples(60)
@given(cells_strategy([TRIANGLE, QUAD, POLYGON], 7))
def test_hybrid_cells_in_2_dimensions(cells):
    assert_graphs(cells, 7, dim=2)


@with_examples(60)
@given(cells_strategy([TETRA, HEXAHEDRON, WEDGE, PYRAMID], 9))
def test_hybrid_cells_in_3_dimensions(cells):
    assert_graphs(cells, 9)


@with_examples(20)
@given(cells_strategy([LINE], 6))
def test_lines(cells):
    assert_graphs(cells, 6)


@with_examples(20)
@given(cells_strategy([POINT_SET], 8))
def test_cells_of_unknown_shape(cells):
    mesh = mesh_of(cells, 8)
    assert edges_of(mesh.dual_graph()) == slow_dual(cells)
    assert edges_of(mesh.nodal_graph()) == slow_nodal(cells)


def box(nx, ny, nz):
    """A box of hexahedra, every third cut into two wedges, every fifth into six pyramids."""
    cells, extra = [], (nx + 1) * (ny + 1) * (nz + 1)

    def at(i, j, k):
        return i + (nx + 1) * (j + (ny + 1) * k)

    for number, (k, j, i) in enumerate(np.ndindex(nz, ny, nx)):
        low = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)]
        c = low + [p + at(0, 0, 1) for p in low]
        if number % 5 == 4:
            cells += [(PYRAMID, [c[int(f)] for f in face] + [extra]) for face in FACES[HEXAHEDRON]]
            extra += 1
        elif number % 3 == 2:
            cells += [(WEDGE, [c[v] for v in (0, 1, 2, 4, 5, 6)])]
            cells += [(WEDGE, [c[v] for v in (0, 2, 3, 4, 6, 7)])]
        else:
            cells.append((HEXAHEDRON, c))
    return cells, extra


def test_box_of_many_shapes():
    assert_graphs(*box(4, 3, 3))


def test_faces_of_three_cells_join_each_to_each():
    cells = [(TRIANGLE, [0, 1, p]) for p in (2, 3, 4)]
    assert edges_of(mesh_of(cells, 5).dual_graph()) == {(0, 1), (0, 2), (1, 2)}


def test_cells_that_stand_twice_are_neighbours():
    mesh = mesh_of([(TETRA, [0, 1, 2, 3]), (TETRA, [3, 1, 0, 2])], 4)
    assert edges_of(mesh.dual_graph()) == {(0, 1)}
    assert mesh.boundary_faces().owner.size == 0


def test_points_that_no_cell_uses():
    mesh = mesh_of([(TRIANGLE, [0, 2, 4])], 7)
    assert mesh.n_unused_points == 4
    assert mesh.nodal_graph().degrees.tolist() == [2, 0, 2, 0, 2, 0, 0]


def test_outward_faces_and_volumes():
    """The divergence theorem: the outward faces of a box enclose its volume."""
    cube = np.array([[x, y, z] for z in (0, 1) for y in (0, 2) for x in (0, 3)], float)
    hexahedron = [0, 1, 3, 2, 4, 5, 7, 6]
    wedges = [[hexahedron[v] for v in cell] for cell in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))]
    apex = len(cube)
    bases = ("0321", "4567", "0154", "1265", "2376", "0473")
    # A pyramid's base turns outward when its corners are listed the other way round.
    pyramids = [[hexahedron[int(v)] for v in base[::-1]] + [apex] for base in bases]
    points = np.vstack([cube, [[1.5, 1.0, 0.5]]])
    for kind, cells in ((HEXAHEDRON, [hexahedron]), (WEDGE, wedges), (PYRAMID, pyramids)):
        size = len(cells[0])
        offsets, kinds = np.arange(len(cells) + 1) * size, [kind] * len(cells)
        faces = Mesh(points, offsets, np.ravel(cells), kinds).boundary_faces()
        volume = 0.0
        for a, b in zip(faces.offsets[:-1], faces.offsets[1:], strict=True):
            p = points[faces.corners[a:b]]
            fan = [(p[0], p[i], p[i + 1]) for i in range(1, len(p) - 1)]
            volume += sum(np.dot(q, np.cross(r, s)) / 6 for q, r, s in fan)
        assert volume == pytest.approx(6.0)


def test_points_amid_edges_split_them():
    quadratic = mesh_of([(22, [0, 1, 2, 3, 4, 5])], 6, dim=2)
    wanted = {(0, 3), (1, 3), (1, 4), (2, 4), (2, 5), (0, 5)}
    assert edges_of(quadratic.nodal_graph()) == wanted
    # A quad's ninth point lies in no edge: it is joined to the corners.
    biquadratic = mesh_of([(28, range(9))], 9, dim=2)
    assert {(c, 8) for c in range(4)} <= edges_of(biquadratic.nodal_graph())
    assert np.allclose(biquadratic.centres()[0], biquadratic.points[:4].mean(axis=0))


def test_higher_orders_share_faces_by_their_corners():
    mesh = mesh_of([(22, [0, 1, 2, 4, 5, 6]), (TRIANGLE, [1, 2, 3])], 7, dim=2)
    assert edges_of(mesh.dual_graph()) == {(0, 1)}


def test_pixels_count_their_corners_row_by_row():
    mesh = mesh_of([(8, [0, 1, 2, 3]), (QUAD, [2, 3, 5, 4])], 6, dim=2)
    assert edges_of(mesh.dual_graph()) == {(0, 1)}
    assert (1, 2) not in edges_of(mesh.nodal_graph())


def test_without_coordinates():
    mesh = Mesh(np.empty((4, 0)), [0, 3, 6], [0, 1, 2, 1, 2, 3], [TRIANGLE] * 2)
    assert not mesh.has_coordinates
    assert mesh.dual_graph().coords is None
    assert mesh.nodal_graph().m == 5


def test_a_point_of_every_cell_is_no_trouble_but_sets_that_share_one_are():
    fan = [(TRIANGLE, [0, i, i + 1]) for i in range(1, 3000)]
    assert mesh_of(fan, 3001, dim=2).dual_graph().m == 2998
    many = Mesh(np.empty((1, 0)), np.arange(4001), np.zeros(4000, int), [POINT_SET] * 4000)
    with pytest.raises(InputError, match="are neighbours, too many for a mesh"):
        many.dual_graph()
    huge = Mesh(np.empty((9000, 0)), [0, 9000], np.arange(9000), [POINT_SET])
    with pytest.raises(InputError, match="pairs of points"):
        huge.nodal_graph()


@pytest.mark.parametrize(
    ("points", "offsets", "corners", "kinds", "words"),
    [
        (3, [0, 3], [0, 1, 3], [TRIANGLE], "corner 3, but there are 3"),
        (3, [0, 3], [0, 1, -1], [TRIANGLE], "corner -1"),
        (3, [0, 3], [0, 1, 2**40], [TRIANGLE], "corner 1099511627776"),
        (3, [0, 2], [0, 1], [TRIANGLE], "cell 0 has 2 corners"),
        (3, [0, 3], [0, 1, 2], [99], "cell 0 has the unknown type 99"),
        (3, [0, 3], [0, 1, 2], [300], "kinds must lie in"),
        (3, [0, 3], [0, 1, 2], [-1], "kinds must lie in"),
        (3, [0, 2], [0, 1, 2], [TRIANGLE], "offsets must ascend"),
        (3, [0, 4, 3], [0, 1, 2], [TRIANGLE, TRIANGLE], "offsets must ascend"),
        (3, [0, -3, 3], [0, 1, 2], [TRIANGLE, TRIANGLE], "offsets must ascend"),
        (3, [0, 3, 3], [0, 1, 2], [TRIANGLE], "3 entries for 1 cells"),
        (3, [0], [], [], "no cells"),
        (
            3,
            [0, 3, 5],
            [0, 1, 2, 0, 1],
            [TRIANGLE, LINE],
            "all cells must have the same dimension above 0, not",
        ),
        (3, [0, 1], [0], [VERTEX], "all cells must have the same dimension above 0, not"),
        (3, [0, 0], [], [POINT_SET], "0 corners"),
        (3, [0, 3], [0.5, 1, 2], [TRIANGLE], "whole numbers"),
    ],
)
def test_refused(points, offsets, corners, kinds, words):
    with pytest.raises(InputError, match=words):
        Mesh(np.zeros((points, 2)), offsets, corners, kinds)


def test_refused_points_and_fields():
    triangle = ([0, 3], [0, 1, 2], [TRIANGLE])
    with pytest.raises(InputError, match="finite"):
        Mesh([[0, 0], [1, 0], [np.nan, 1]], *triangle)
    with pytest.raises(InputError, match="2 or 3 columns"):
        Mesh(np.zeros((3, 4)), *triangle)
    with pytest.raises(InputError, match="'speed' has 2 entries for 1 cells"):
        Mesh(np.zeros((3, 2)), *triangle, cell_data={"speed": [1, 2]})
    with pytest.raises(InputError, match="'depth' has 1 entries for 3 points"):
        Mesh(np.zeros((3, 2)), *triangle, point_data={"depth": 4})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (5, "triangles"),
        (22, "6-node triangles"),
        (25, "20-node hexahedra"),
        (13, "wedges"),
        (7, "polygons"),
        (42, "polyhedra"),
        (71, "Lagrange tetrahedra"),
        (99, "cells of VTK type 99"),
    ],
)
def test_cells_are_called_by_their_shape(kind, name):
    assert cells_called(kind) == name
