"""Meshes of polyhedra: two cubes side by side, and what is no mesh."""

import numpy as np
import pytest

from evener.errors import InputError
from evener.graphs.polymesh import PolyMesh


def edges_of(graph):
    v = np.repeat(np.arange(graph.n), graph.degrees)
    return {(int(a), int(b)) for a, b in zip(v, graph.adjncy, strict=True) if a < b}


def two_cubes(**changes):
    points = [[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1, 2)]
    faces = [[1, 4, 10, 7], [0, 6, 9, 3], [0, 1, 7, 6], [3, 9, 10, 4], [0, 3, 4, 1], [6, 7, 10, 9],
             [2, 5, 11, 8], [1, 2, 8, 7], [4, 10, 11, 5], [1, 4, 5, 2], [7, 8, 11, 10]]  # fmt: skip
    fields = {
        "points": points,
        "face_offsets": np.arange(12) * 4,
        "face_corners": np.ravel(faces),
        "owner": [0] * 6 + [1] * 5,
        "neighbour": [1],
    } | changes
    return PolyMesh(**fields)


def test_polyhedra():
    mesh = two_cubes()
    assert (mesh.n_cells, mesh.n_points, mesh.dim, mesh.n_unused_points) == (2, 12, 3, 0)
    dual, nodal = mesh.dual_graph(), mesh.nodal_graph()
    assert edges_of(dual) == {(0, 1)}
    assert np.allclose(dual.coords, [[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    assert nodal.m == 20
    faces = mesh.boundary_faces()
    assert faces.owner.tolist() == [0] * 5 + [1] * 5
    assert faces.offsets.tolist() == list(range(0, 41, 4))
    assert faces.corners[:4].tolist() == [0, 6, 9, 3]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"owner": [0] * 5 + [1] * 5}, "inconsistent counts:"),
        ({"neighbour": [0]}, "face 0 must lie between two different cells"),
        ({"neighbour": [-1]}, "face 0 must lie between"),
        ({"owner": [0] * 6 + [-1] * 5}, "face 6 must lie between"),
        ({"owner": [0] * 6 + [3] * 5}, "cell 2 has no face"),
        ({"owner": [0] * 10 + [2**33]}, "too few faces for so many cells"),
        ({"face_offsets": [0, 2, *range(8, 45, 4)]}, "face 0 has fewer than 3 corners"),
        ({"face_corners": [12] * 44}, "corner 12"),
        ({"owner": [], "neighbour": [], "face_offsets": [0], "face_corners": []}, "no faces"),
        ({"points": np.full((12, 3), np.inf)}, "finite"),
        ({"neighbour": [1] * 12}, "inconsistent counts:"),
    ],
)
def test_polyhedra_refused(changes, words):
    with pytest.raises(InputError, match=words):
        two_cubes(**changes)
