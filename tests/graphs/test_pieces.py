"""MeshPieces: the pieces of a mesh are its cells, each once, on the same points."""

import numpy as np
import pytest

from evener.graphs.mesh import HEXAHEDRON, QUAD, TRIANGLE, WEDGE, Mesh
from evener.graphs.pieces import MeshPieces
from evener.graphs.polymesh import PolyMesh

SHAPE = (3, 4, 5)
# Corners of a box's six sides, in VTK's numbering of its corners, turning outward.
SIDES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]


def boxes():
    """Corners (c, 8) of boxes in a grid, and its points."""
    place = np.stack(np.meshgrid(*map(range, SHAPE), indexing="ij"), axis=-1).reshape(-1, 3)
    steps = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    sizes = tuple(n + 1 for n in SHAPE)
    number = np.arange(np.prod(sizes)).reshape(sizes)
    corners = np.stack([number[tuple((place + step).T)] for step in steps], axis=1)
    points = np.stack(np.meshgrid(*map(range, sizes), indexing="ij"), axis=-1).reshape(-1, 3)
    return corners, points.astype(float)


def box_mesh():
    corners, points = boxes()
    kinds = np.full(len(corners), HEXAHEDRON)
    return Mesh(points, 8 * np.arange(len(corners) + 1), corners.ravel(), kinds)


def mixed_mesh():
    """Triangles, quads and a point that no cell uses."""
    points = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1], [9, 9]], float)
    corners = [0, 1, 4, 3, 1, 2, 4, 2, 5, 4]
    return Mesh(points, [0, 4, 7, 10], corners, [QUAD, TRIANGLE, TRIANGLE])


def wedge_mesh():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float)
    points = np.vstack([points, points + np.array([0, 0, 1])])
    return Mesh(points, [0, 6, 12], [0, 1, 2, 4, 5, 6, 3, 2, 1, 7, 6, 5], [WEDGE, WEDGE])


def poly_mesh():
    """The boxes as polyhedra, inner faces first."""
    corners, points = boxes()
    faces = {}
    for cell, box in enumerate(corners.tolist()):
        for side in SIDES:
            face = tuple(box[i] for i in side)
            faces.setdefault(tuple(sorted(face)), []).append((cell, face))
    order = sorted(faces.values(), key=lambda sides: (len(sides) == 1, [c for c, _ in sides]))
    neighbour = [sides[1][0] for sides in order if len(sides) == 2]
    owner = [sides[0][0] for sides in order]
    around = [corner for sides in order for corner in sides[0][1]]
    return PolyMesh(points, 4 * np.arange(len(order) + 1), around, owner, neighbour)


MESHES = {"boxes": box_mesh, "mixed": mixed_mesh, "wedges": wedge_mesh, "polyhedra": poly_mesh}


@pytest.fixture(params=MESHES)
def mesh(request):
    return MESHES[request.param]()


def divided(mesh, k, seed=5):
    part = np.random.default_rng(seed).integers(0, k, mesh.n_cells).astype(np.int32)
    return part, {b: MeshPieces(mesh, part).piece(b) for b in np.unique(part).tolist()}


def faces_of(mesh, numbers=None):
    """Of each cell the set of its faces, as corners in order from the least, turning outward."""
    found = [set() for _ in range(mesh.n_cells)]
    for f, owner in enumerate(mesh.owner.tolist()):
        corners = mesh.face_corners[mesh.face_offsets[f] : mesh.face_offsets[f + 1]]
        corners = corners.tolist() if numbers is None else numbers[corners].tolist()
        found[owner].add(turned(corners))
        if f < mesh.neighbour.size:
            found[mesh.neighbour[f]].add(turned(corners[::-1]))
    return found


def turned(corners):
    first = corners.index(min(corners))
    return tuple(corners[first:] + corners[:first])


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_pieces_are_the_mesh(mesh, k):
    part, pieces = divided(mesh, k)
    for block, (piece, cells, points) in pieces.items():
        assert cells.tolist() == np.flatnonzero(part == block).tolist()
        assert piece.n_cells == cells.size
        assert np.all(np.diff(points) > 0)
        assert piece.n_unused_points == 0
        assert np.array_equal(piece.points, mesh.points[points])
        assert np.allclose(piece.centres(), mesh.centres()[cells])
        if isinstance(mesh, PolyMesh):
            whole = faces_of(mesh)
            assert faces_of(piece, points) == [whole[cell] for cell in cells]
        else:
            assert np.array_equal(piece.kinds, mesh.kinds[cells])
            whole = np.split(mesh.corners, mesh.offsets[1:-1])
            ours = np.split(points[piece.corners], piece.offsets[1:-1])
            assert [c.tolist() for c in ours] == [whole[cell].tolist() for cell in cells]


def edges_of(mesh):
    graph = mesh.dual_graph()
    return np.stack([np.repeat(np.arange(graph.n), np.diff(graph.xadj)), graph.adjncy], axis=1)


def test_neighbours_within_a_block_stay_neighbours(mesh):
    part, pieces = divided(mesh, 3)
    edges = edges_of(mesh)
    inside = edges[part[edges[:, 0]] == part[edges[:, 1]]]
    ours = np.vstack([cells[edges_of(piece)] for piece, cells, _ in pieces.values()])
    assert sorted(ours.tolist()) == sorted(inside.tolist())
