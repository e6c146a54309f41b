"""The airfoil's mesh: exact outline, nothing inside, no cell turned round, graded."""

from itertools import pairwise

import numpy as np
import pytest

from evener.errors import UsageError
from evener.graphs.generating.airfoil import FAR, airfoil, surface_at
from evener.graphs.generating.delaunay import signed_sizes
from tests.choosing import slow_but

SHAPES = [(0.02, 0.4, 0.12), (0.0, 0.4, 0.06), (0.09, 0.2, 0.24), (0.09, 0.8, 0.06)]


def cells_of(mesh):
    return mesh.corners.reshape(-1, 3)


def smallest_angles(mesh):
    """(t,) [degrees], by the law of cosines."""
    corners = mesh.points[cells_of(mesh)]
    a, b, c = (
        np.linalg.norm(corners[:, i] - corners[:, j], axis=1) for i, j in ((1, 2), (2, 0), (0, 1))
    )
    cosines = [(y**2 + z**2 - x**2) / (2 * y * z) for x, y, z in ((a, b, c), (b, c, a), (c, a, b))]
    return np.degrees(np.arccos(np.max(cosines, axis=0)))


def loops(mesh):
    """The closed curves of the boundary, each its points (p, 2) in the cells' direction."""
    faces = mesh.boundary_faces()
    start, end = faces.corners.reshape(-1, 2).T
    following = dict(zip(start.tolist(), end.tolist(), strict=True))
    assert len(following) == start.size  # no point stands on two curves
    found = []
    while following:
        loop = [next(iter(following))]
        while (point := following.pop(loop[-1])) != loop[0]:
            loop.append(point)
        found.append(mesh.points[loop])
    return found


def signed_area(loop):
    following = np.roll(loop, -1, axis=0)
    return 0.5 * np.sum(loop[:, 0] * following[:, 1] - loop[:, 1] * following[:, 0])


@pytest.fixture(scope="module")
def usual():
    return airfoil(30_000, seed=70001)


def test_a_symmetric_outline_by_hand():
    # NACA 0012 is thickest at 0.3 chords: 0.06 above the line, 0.06 below; closed at both ends.
    x = np.array([0.0, 0.3, 1.0])
    upper, lower = (surface_at(x, side, 0.0, 0.4, 0.12) for side in (1.0, -1.0))
    assert np.allclose(upper[:, 0], x)
    assert np.allclose(upper[:, 1], [0, 0.06, 0], atol=2e-4)
    assert np.allclose(upper[:, 1], -lower[:, 1])
    # With camber, the line is highest where it is said to be.
    line = (surface_at(x, 1, 0.02, 0.3, 0.12) + surface_at(x, -1, 0.02, 0.3, 0.12)) / 2
    assert line[1] == pytest.approx([0.3, 0.02])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", slow_but([4000, 15_000]))
def test_cells_fill_what_lies_between_body_and_circle(n, shape):
    mesh = airfoil(n, 90017, *shape)
    areas = signed_sizes(mesh.points, cells_of(mesh))
    assert areas.min() > 0
    assert mesh.n_cells == pytest.approx(n, rel=0.02)
    assert smallest_angles(mesh).min() > 7
    # Two curves: the circle anticlockwise, the body, a hole, clockwise. What they enclose
    # is the sum of the cells: none overlaps, none lies in the body.
    inner, outer = sorted(map(signed_area, loops(mesh)))
    assert inner < 0 < outer
    assert areas.sum() == pytest.approx(outer + inner, rel=1e-12)
    assert outer == pytest.approx(np.pi * FAR**2, rel=0.02)
    x = np.linspace(0, 1, 20_001)
    rim = np.concatenate([surface_at(x, 1.0, *shape)[::-1], surface_at(x, -1.0, *shape)[1:-1]])
    assert -inner == pytest.approx(signed_area(rim), rel=0.01)
    assert mesh.dual_graph().components()[0] == 1


@pytest.mark.slow
def test_the_hole_is_the_airfoil(usual):
    body = next(loop for loop in loops(usual) if np.abs(loop).max() < 2)
    x = np.linspace(0, 1, 50_001)
    rim = np.concatenate([surface_at(x, side, 0.02, 0.4, 0.12) for side in (1.0, -1.0)])
    from scipy.spatial import cKDTree

    assert cKDTree(rim).query(body)[0].max() < 5e-4
    assert cKDTree(body).query(rim)[0].max() < 0.01
    # The first boundary in the order of points is the body.
    assert np.hypot(*usual.points[0]) < 2


def test_cells_grow_with_the_distance_from_the_body(usual):
    size = np.sqrt(signed_sizes(usual.points, cells_of(usual)))
    away = np.hypot(*(usual.centres() - [0.5, 0.0]).T)
    edges_of_rings = [0.8, 1.5, 3, 6, 12, 20]
    rings = np.digitize(away, edges_of_rings)
    means = [size[rings == ring].mean() for ring in range(1, 6)]
    assert all(after > 1.4 * before for before, after in pairwise(means))
    assert size.max() > 300 * size.min()
    # No rim either: cells with a common edge are of like size.
    graph = usual.dual_graph()
    u = np.repeat(np.arange(graph.n), graph.degrees)
    ratio = size[graph.adjncy] / size[u]
    assert np.quantile(ratio, 0.99) < 2.2


def test_angles_are_large_outside_the_layers(usual):
    # The layers along the body are flat on purpose; a fifth as high as wide at the wall.
    angles = smallest_angles(usual)
    assert angles.min() > 10
    assert np.mean(angles < 20) < 0.1
    from scipy.spatial import cKDTree

    body = next(loop for loop in loops(usual) if np.abs(loop).max() < 2)
    spacing = np.linalg.norm(np.diff(body, axis=0), axis=1).max()
    outside = cKDTree(body).query(usual.centres())[0] > 5 * spacing
    assert angles[outside].min() > 15
    assert np.median(angles[outside]) > 45


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_triangles": 100}, "n_triangles must lie from 4000 to 20000000, not 100"),
        ({"camber": -0.1}, "camber must lie from"),
        ({"camber_at": 0.0}, "camber_at must lie from"),
        ({"thickness": float("nan")}, "thickness must lie from 0.06 to 0.24, not nan"),
        ({"seed": -1}, "seed must not be negative"),
    ],
)
def test_refuses(given, message):
    with pytest.raises(UsageError, match=message):
        airfoil(**given)
