"""Delaunay triangulations of points, and the graphs and meshes that follow from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.curves import hilbert_order
from evener.errors import InputError
from evener.graphs import Graph
from evener.meshes import TETRA, TRIANGLE, Mesh

BYTES_A_POINT = {2: 800, 3: 2600}  # by dimension, at the peak: measured, Qhull's for the most


class Triangulation(NamedTuple):
    """Simplices (t, d + 1) int32 of points (n, d); neighbours likewise, -1 where there is none.

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

    Raises InputError where there are too few points, all lie on a line (in a plane), or one is
    too near to another to be told apart from it.
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
        raise InputError(f"{len(made.coplanar)} of {n} points coincide with others, nearly")
    return Triangulation(points, made.simplices, made.neighbors)


def delaunay_graph(points: FloatArray) -> Graph:
    """Return the Delaunay graph of points (n, 2): they are its vertices and coordinates."""
    _, simplices, neighbours = triangulate(points)
    # An edge belongs to two triangles, and is taken from the one with the larger number.
    first = neighbours < np.arange(len(simplices), dtype=np.int32)[:, None]
    u = [simplices[first[:, j], (j + 1) % 3] for j in range(3)]
    v = [simplices[first[:, j], (j + 2) % 3] for j in range(3)]
    return Graph.from_edges(len(points), np.concatenate(u), np.concatenate(v), coords=points)


def dual_graph(made: Triangulation, order: IntArray | None = None) -> Graph:
    """Return the graph of the simplices, neighbours across a facet; coordinates: their centres.

    order (t,): the simplex that becomes vertex i; None: along the Hilbert curve.
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

    Corners are put in the order that makes areas and volumes positive; unused points are dropped.
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
    """(t,) areas of triangles or volumes of tetrahedra, negative where they are turned round."""
    edges = points[simplices[:, 1:]] - points[simplices[:, :1]]
    d = points.shape[1]
    return np.asarray(np.linalg.det(edges) / (2.0 if d == 2 else 6.0), np.float64)
