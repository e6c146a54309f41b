"""A graded triangle mesh around an airfoil of the NACA four-digit family [JWP33]_.

Points lie on the body, in layers along its normals (a fan at the trailing edge closes them), in a
cloud whose spacing grows with the distance from the layers, and on a far circle. The cloud is
smoothed, all points are triangulated by Delaunay's rule, and triangles inside the body are removed.
The surface stays intact because no point is closer to a surface segment than the segment's ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.errors import InputError
from evener.graphs.generating.checks import between, check_memory, random_source
from evener.graphs.generating.delaunay import (
    Triangulation,
    quadtree_cloud,
    signed_sizes,
    simplex_mesh,
    triangulate,
)
from evener.graphs.hilbert import hilbert_order
from evener.graphs.mesh import Mesh

FAR = 20.0  # chords from mid-chord to the outer circle
GROWTH = 0.05  # growth of the spacing with the distance from the layers, in a mesh of default size
LAYERS = 0.2 * np.cumsum(1.25 ** np.arange(8))  # heights in surface spacings: 0.2 to 4.0
FAN = 8  # columns of layers around the trailing edge
SMOOTHINGS = 3
FEWEST, MOST = 4000, 20_000_000  # triangles
BYTES_A_TRIANGLE = 500  # peak memory, measured


class Body(NamedTuple):
    """Surface points (m, 2), anticlockwise from the trailing edge, and the columns of the layers.

    foot (c,), normal (c, 2), spacing (c,): the surface point at which each column of layers starts,
    its direction, and the local distance between surface points. The first m columns belong to the
    m surface points.
    """

    surface: FloatArray
    foot: IntArray
    normal: FloatArray
    spacing: FloatArray


def airfoil(
    n_triangles: int = 200_000,
    seed: int = 20_012,
    camber: float = 0.02,
    camber_at: float = 0.4,
    thickness: float = 0.12,
) -> Mesh:
    """Return a mesh of about n_triangles triangles around an airfoil of chord 1, nose at (0, 0).

    camber, camber_at and thickness, in chords, are the digits of the family: 2412 by default.
    Triangles are anticlockwise and ordered along the Hilbert curve; the first boundary of the mesh
    is the body, the second a circle of radius FAR.
    """
    between(n_triangles, FEWEST, MOST, "n_triangles")
    between(camber, 0.0, 0.09, "camber")
    between(camber_at, 0.2, 0.8, "camber_at")
    between(thickness, 0.06, 0.24, "thickness")
    check_memory(n_triangles, BYTES_A_TRIANGLE, "triangles")
    rng = random_source(seed)
    m = max(80, round(0.0135 * n_triangles))
    n_points = (n_triangles + m) // 2  # Euler: twice the points minus those on boundaries
    body = _body(m, camber, camber_at, thickness)
    near = np.concatenate([body.surface, _layers(body, rng)])
    cloud, far = _cloud(n_points - len(near), body, rng)
    fixed = np.concatenate([near, far])
    for _ in range(SMOOTHINGS):
        cloud = _smoothed(_triangulate(np.concatenate([fixed, cloud])), len(fixed))
    made = _triangulate(np.concatenate([fixed, cloud]))
    return simplex_mesh(made.points, _outside(made, len(body.surface)))


def surface_at(
    x: FloatArray, side: float, camber: float, camber_at: float, thickness: float
) -> FloatArray:
    """Return points (n, 2) above (side 1) or below (-1) the mean line at x in [0, 1] [JWP33]_."""
    half = 5 * thickness * (0.2969 * np.sqrt(x) + x * _polynomial(x))
    before = x < camber_at
    scale = np.where(before, camber / camber_at**2, camber / (1 - camber_at) ** 2)
    mean = scale * np.where(
        before, 2 * camber_at * x - x**2, 1 - 2 * camber_at + 2 * camber_at * x - x**2
    )
    slope = np.arctan(2 * scale * (camber_at - x))
    return np.column_stack([x - side * half * np.sin(slope), mean + side * half * np.cos(slope)])


def _polynomial(x: FloatArray) -> FloatArray:
    # The last coefficient is the one that closes the trailing edge.
    return np.asarray(-0.1260 + x * (-0.3516 + x * (0.2843 - 0.1036 * x)), np.float64)


def _body(m: int, camber: float, camber_at: float, thickness: float) -> Body:
    """Place m surface points, three times as dense at the nose and twice at the tail."""
    x = (1 + np.cos(np.linspace(0, np.pi, 4001))) / 2
    shape = camber, camber_at, thickness
    fine = np.concatenate([surface_at(x, 1.0, *shape), surface_at(x[-2::-1], -1.0, *shape)])
    fine[-1] = fine[0]
    pieces = np.hypot(*np.diff(fine, axis=0).T)
    middle = (fine[1:, 0] + fine[:-1, 0]) / 2
    density = 1 + 2 * np.exp(-middle / 0.05) + np.exp(-(1 - middle) / 0.05)
    way = np.concatenate([[0.0], np.cumsum(pieces * density)])
    at = np.linspace(0.0, way[-1], m + 1)[:-1]
    surface = np.column_stack([np.interp(at, way, fine[:, j]) for j in range(2)])
    ahead, behind = np.roll(surface, -1, axis=0) - surface, surface - np.roll(surface, 1, axis=0)
    spacing = (np.hypot(*ahead.T) + np.hypot(*behind.T)) / 2
    # The surface runs anticlockwise, so outward is to the right.
    outward = _unit((ahead + behind)[:, ::-1] * [1, -1])
    first, last = (_unit(edge[0, ::-1] * [1, -1]) for edge in (behind, ahead))
    angles = np.linspace(np.arctan2(*first[::-1]), np.arctan2(*last[::-1]), FAN)
    fan = np.column_stack([np.cos(angles), np.sin(angles)])
    outward[0] = fan[0]
    return Body(
        surface,
        np.concatenate([np.arange(m), np.zeros(FAN - 1, np.int64)]),
        np.concatenate([outward, fan[1:]]),
        np.concatenate([spacing, np.full(FAN - 1, spacing[0])]),
    )


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), np.float64)


def _layers(body: Body, rng: np.random.Generator) -> FloatArray:
    """Return points on every column; heights vary by 2 % to avoid four points on one circle."""
    heights = LAYERS[:, None] * body.spacing * (0.98 + 0.04 * rng.random((LAYERS.size, 1)))
    heights = heights * (0.99 + 0.02 * rng.random((LAYERS.size, body.spacing.size)))
    points = body.surface[body.foot] + heights[:, :, None] * body.normal
    return points.reshape(-1, 2)


def _cloud(n: int, body: Body, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return n points in all: those between the layers and the far circle, and those on it."""
    from scipy.spatial import cKDTree

    surface = cKDTree(body.surface)
    inward = -body.normal[: len(body.surface)]
    inward[0] = [-1.0, 0.0]  # points nearest to the trailing edge lie behind it
    mid_chord = np.array([0.5, 0.0])

    def spacing(centres: FloatArray, sides: FloatArray) -> tuple[FloatArray, BoolArray]:
        away, nearest = surface.query(centres)
        within = np.einsum("ij,ij->i", centres - body.surface[nearest], inward[nearest]) > 0
        away = np.where(within & (away < 0.2), -away, away)
        local = body.spacing[nearest]
        gap = away - LAYERS[-1] * local
        beyond = np.hypot(*(centres - mid_chord).T) - FAR
        wanted = np.maximum(gap, 0) + local / GROWTH
        wanted[(gap < -sides) | (beyond > sides)] = np.inf
        return wanted, (gap > 0.6 * local) & (beyond < -0.5 * sides)

    points, sides = quadtree_cloud(n, (0.5 - FAR, -FAR), 2 * FAR, spacing, rng)
    radius = np.hypot(*(points - mid_chord).T)
    apart = float(sides[radius >= np.quantile(radius, 0.97)].mean())
    points = points[radius < FAR - 0.4 * apart]
    angle = np.linspace(0, 2 * np.pi, max(24, round(2 * np.pi * FAR / apart)), endpoint=False)
    return points, mid_chord + FAR * np.column_stack([np.cos(angle), np.sin(angle)])


def _triangulate(points: FloatArray) -> Triangulation:
    """Triangulate in Hilbert order, which is faster, but keep the original point numbers."""
    order = hilbert_order(points)
    made = triangulate(points[order])
    return Triangulation(points, order[made.simplices], made.neighbours)


def _smoothed(made: Triangulation, n_fixed: int) -> FloatArray:
    """Return the points from n_fixed on, each moved to the mean of its neighbours."""
    points, simplices, _ = made
    n = len(points)
    count = 2.0 * np.bincount(simplices.ravel(), minlength=n)
    moved = []
    for j in range(2):
        corners = points[simplices, j]
        others = corners.sum(axis=1, keepdims=True) - corners
        total = np.bincount(simplices.ravel(), weights=others.ravel(), minlength=n)
        moved.append(total[n_fixed:] / count[n_fixed:])
    return np.column_stack(moved)


def _outside(made: Triangulation, m: int) -> IntArray:
    """Return the triangles outside the body, whose surface is points 0 to m - 1."""
    points, simplices, _ = made
    # All edges of the surface exist. So a triangle of three surface points lies inside exactly if
    # its corners, in the order of the surface, are anticlockwise.
    on_body = np.flatnonzero((simplices < m).all(axis=1))
    inside = on_body[signed_sizes(points, np.sort(simplices[on_body], axis=1)) > 0]
    kept = np.delete(simplices, inside, axis=0)
    u, v = kept.ravel(), kept[:, [1, 2, 0]].ravel()
    surface = (u < m) & (v < m) & np.isin((u - v) % m, (1, m - 1))
    edges = np.unique(np.where((v - u) % m == 1, u, v)[surface])
    if edges.size < m:
        raise InputError(
            f"{m - edges.size} of the {m} edges of this airfoil's surface are cut through",
            hint="Use a thicker airfoil or more triangles.",
        )
    return kept
