"""Delaunay triangulations of points, and families of graphs and meshes made from them.

Points are uniform (delaunay, triangle_mesh, tetrahedron_mesh and their duals), dense around a point
and a curve (graded_delaunay), or follow a moving front, as in adaptive simulations
(refined_delaunay). If a spacing is prescribed, a quadtree is refined until its cells have that
size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray
from evener.errors import InputError
from evener.graphs.generating.checks import (
    at_least,
    between,
    check_memory,
    random_source,
    two_or_three,
)
from evener.graphs.graph import Graph
from evener.graphs.hilbert import hilbert_order
from evener.graphs.mesh import TETRA, TRIANGLE, Mesh

BYTES_A_POINT = {2: 800, 3: 2600}  # peak memory [B], measured, by dimension; mostly Qhull's
JITTER = 0.5  # displacement of points in cell sides: lattices have ambiguous triangulations
CENTRE = (0.3, 0.4)  # the point around which graded points are dense
ORIGIN = np.array([0.35, 0.45])  # where the front starts
FRONT_WIDTH = 0.005  # spacing at the front; it grows by the distance from it

# (centres (c, 2), sides (c,)) -> wanted spacing (c,), infinite for cells never to be split, and
# whether the cell counts as a point (c,).
Spacing = Callable[[FloatArray, FloatArray], tuple[FloatArray, BoolArray]]


class Triangulation(NamedTuple):
    """Simplices (t, d + 1) int32 of points (n, d), and neighbours (t, d + 1), -1 for none.

    The neighbour in column j lies opposite the corner in column j.
    """

    points: FloatArray
    simplices: IntArray
    neighbours: IntArray


def sorted_points(points: FloatArray) -> FloatArray:
    """Return the points in the order in which the Hilbert curve visits them."""
    return points[hilbert_order(points)]


def triangulate(points: FloatArray) -> Triangulation:
    """Triangulate points (n, 2) or (n, 3) by Delaunay's rule (Qhull [BDH96]_).

    Raises InputError if there are too few points, if all lie on a line (in a plane), or if two are
    too close together to be distinguished.
    """
    from scipy.spatial import Delaunay, QhullError

    n, d = points.shape
    if n < d + 1:
        raise InputError(f"a triangulation in {d} dimensions needs {d + 1} points, not {n}")
    try:
        made = Delaunay(points)
    except QhullError as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{n} points cannot be triangulated: {reason}") from error
    if made.coplanar.size:
        raise InputError(f"{len(made.coplanar)} of {n} points nearly coincide with other points")
    return Triangulation(points, made.simplices, made.neighbors)


def delaunay_graph(points: FloatArray) -> Graph:
    """Return the Delaunay graph of points (n, 2) or (n, 3), with the points as coordinates."""
    _, simplices, neighbours = triangulate(points)
    if points.shape[1] == 3:
        return _graph_of_tetrahedra(points, simplices)
    # Two triangles share an edge; it is taken from the one with the larger number.
    first = neighbours < np.arange(len(simplices), dtype=np.int32)[:, None]
    u = [simplices[first[:, j], (j + 1) % 3] for j in range(3)]
    v = [simplices[first[:, j], (j + 2) % 3] for j in range(3)]
    return Graph.from_edges(len(points), np.concatenate(u), np.concatenate(v), coords=points)


def _graph_of_tetrahedra(points: FloatArray, simplices: IntArray) -> Graph:
    """Return the graph of the tetrahedra's edges; about five tetrahedra share each edge."""
    n = len(points)
    ends = np.sort(simplices, axis=1).astype(np.int64)
    pairs = [(i, j) for j in range(4) for i in range(j)]
    keys = np.unique(np.concatenate([ends[:, i] * n + ends[:, j] for i, j in pairs]))
    return Graph.from_edges(n, keys // n, keys % n, coords=points)


def dual_graph(made: Triangulation, order: IntArray | None = None) -> Graph:
    """Return the graph of the simplices, joined if they share a facet; coordinates: their centres.

    order (t,): order[i] is the simplex that becomes vertex i; None: along the Hilbert curve.
    """
    count = len(made.simplices)
    centres = made.points[made.simplices].mean(axis=1)
    if order is None:
        order = hilbert_order(centres)
    number = np.empty(count, np.int32)
    number[order] = np.arange(count, dtype=np.int32)
    neighbours = made.neighbours[order]
    there = neighbours >= 0
    xadj = np.concatenate([[0], np.cumsum(np.count_nonzero(there, axis=1))])
    return Graph(xadj, number[neighbours[there]], coords=centres[order])


def simplex_mesh(points: FloatArray, simplices: IntArray) -> Mesh:
    """Return triangles (2-D) or tetrahedra (3-D) as a mesh, along the Hilbert curve.

    Corners are ordered so that areas and volumes are positive; unused points are dropped.
    """
    used, corners = np.unique(simplices, return_inverse=True)
    corners = corners.reshape(simplices.shape)
    points = points[used]
    corners = corners[hilbert_order(points[corners].mean(axis=1))]
    turned = signed_sizes(points, corners) < 0
    corners[turned, :2] = corners[turned, 1::-1]
    count, width = corners.shape
    kinds = np.full(count, TRIANGLE if width == 3 else TETRA, np.uint8)
    offsets = np.arange(0, count * width + 1, width)
    return Mesh(points, offsets, corners.ravel(), kinds)


def signed_sizes(points: FloatArray, simplices: IntArray) -> FloatArray:
    """Return areas of triangles or volumes of tetrahedra, (t,), negative if clockwise."""
    edges = points[simplices[:, 1:]] - points[simplices[:, :1]]
    d = points.shape[1]
    return np.asarray(np.linalg.det(edges) / (2.0 if d == 2 else 6.0), np.float64)


def quadtree_cloud(
    n: int, corner: tuple[float, float], side: float, spacing: Spacing, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return n points (n, 2) in the square at `corner`, and their spacings (n,).

    The cells that are largest relative to the wanted spacing are split in four, until there are
    enough cells: final spacings are proportional to the wanted ones. Each cell gives one point,
    displaced from its centre.
    """
    centres, sides = _split(np.array([corner]) + side / 2, np.array([side]))
    wanted, counts = _dithered(spacing, centres, sides, rng)
    while (missing := n - int(np.count_nonzero(counts))) > 0:
        ratio = wanted / sides
        # Few cells at a time, so that the same cells are split as in strict order.
        few = min(-(-missing // 3), max(1, sides.size // 4))
        chosen = np.zeros(sides.size, bool)
        chosen[np.argsort(ratio, kind="stable")[:few]] = True
        children, halves = _split(centres[chosen], sides[chosen])
        more_wanted, more_counts = _dithered(spacing, children, halves, rng)
        centres = np.concatenate([centres[~chosen], children])
        sides = np.concatenate([sides[~chosen], halves])
        wanted = np.concatenate([wanted[~chosen], more_wanted])
        counts = np.concatenate([counts[~chosen], more_counts])
    taken = np.flatnonzero(counts)[:n]
    offsets = JITTER * (rng.random((n, 2)) - 0.5)
    return centres[taken] + offsets * sides[taken, None], sides[taken]


def _dithered(
    spacing: Spacing, centres: FloatArray, sides: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, BoolArray]:
    """Vary the spacing randomly by a factor of two, so that cell sizes change gradually."""
    wanted, counts = spacing(centres, sides)
    return wanted * 2.0 ** (rng.random(sides.size) - 0.5), counts


def _split(centres: FloatArray, sides: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the centres and sides of the four quarters of each cell."""
    towards = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) / 4
    quarters = centres[:, None, :] + towards[None, :, :] * sides[:, None, None]
    return quarters.reshape(-1, 2), np.repeat(sides / 2, 4)


def delaunay(n: int, seed: int, dim: int = 2) -> Graph:
    """Return the Delaunay graph of n uniform points, along the Hilbert curve; n > dim.

    dim: 2, the unit square, or 3, the unit cube.
    """
    two_or_three(dim)
    at_least(n, dim + 1, "n")
    check_memory(n, BYTES_A_POINT[dim], "points")
    return delaunay_graph(sorted_points(random_source(seed).random((n, dim))))


def graded_delaunay(n: int, seed: int) -> Graph:
    """Return the Delaunay graph of n graded points, along the Hilbert curve; n >= 4.

    Half of them surround CENTRE with a density proportional to 1/r^2, half follow a sine curve with
    a density proportional to 1/distance: triangles differ in size by a factor of about 1,000.
    """
    at_least(n, 4, "n")
    check_memory(n, BYTES_A_POINT[2], "points")
    return delaunay_graph(sorted_points(graded_points(n, random_source(seed))))


def graded_points(n: int, rng: np.random.Generator) -> FloatArray:
    """Draw n graded points (n, 2), in random order."""
    half = n // 2
    angle = rng.random(half) * 2 * np.pi
    radius = 0.63 * np.exp(-7 * rng.random(half))
    around = np.column_stack(
        [CENTRE[0] + radius * np.cos(angle), CENTRE[1] + radius * np.sin(angle)]
    )
    x = rng.random(n - half)
    side = np.sign(rng.random(x.size) - 0.5)
    offset = side * 0.5 * np.exp(-6 * rng.random(x.size))
    along = np.column_stack([x, 0.75 + 0.1 * np.sin(6 * x) + offset])
    return np.concatenate([around, along])[rng.permutation(n)]


def refined_delaunay(n: int, seed: int, time: float = 0.5) -> Graph:
    """Return a Delaunay graph of n points, dense along a front at `time` in [0, 1]; n >= 4.

    The front is a rippled ring that starts from ORIGIN at time 0; the spacing grows in proportion
    to the distance from it. Graphs with the same seed and different times are steps of one
    simulation.
    """
    at_least(n, 4, "n")
    between(time, 0.0, 1.0, "time")
    check_memory(n, BYTES_A_POINT[2], "points")

    def spacing(centres: FloatArray, _: FloatArray) -> tuple[FloatArray, BoolArray]:
        wanted = FRONT_WIDTH + distance_to_front(centres, time)
        return wanted, np.ones(wanted.size, bool)

    points, _ = quadtree_cloud(n, (0.0, 0.0), 1.0, spacing, random_source(seed))
    return delaunay_graph(sorted_points(points))


def distance_to_front(points: FloatArray, time: float) -> FloatArray:
    """Return the radial distance (n,) of points (n, 2) from the front."""
    x, y = (points - ORIGIN).T
    ring = (0.05 + 0.6 * time) * (1 + 0.15 * np.sin(5 * np.arctan2(y, x) + 2 * time))
    return np.asarray(np.abs(np.hypot(x, y) - ring), np.float64)


def triangle_mesh(n: int, seed: int) -> Mesh:
    """Return about 2n Delaunay triangles over n uniform points of the unit square; n >= 3."""
    made = _uniform(n, 2, seed)
    return simplex_mesh(made.points, made.simplices)


def tetrahedron_mesh(n: int, seed: int) -> Mesh:
    """Return about 6.5n Delaunay tetrahedra over n uniform points of the unit cube; n >= 4."""
    made = _uniform(n, 3, seed)
    return simplex_mesh(made.points, made.simplices)


def triangle_dual(n: int, seed: int) -> Graph:
    """Return the graph of the cells of triangle_mesh, joined if they share an edge."""
    return dual_graph(_uniform(n, 2, seed))


def tetrahedron_dual(n: int, seed: int) -> Graph:
    """Return the graph of the cells of tetrahedron_mesh, joined if they share a face."""
    return dual_graph(_uniform(n, 3, seed))


def _uniform(n: int, d: int, seed: int) -> Triangulation:
    at_least(n, d + 1, "n")
    check_memory(n, BYTES_A_POINT[d], "points")
    return triangulate(sorted_points(random_source(seed).random((n, d))))
