"""Triangles and tetrahedra among uniform points: as meshes, and as the graphs of their cells."""

from __future__ import annotations

from evener.generating.checking import at_least, check_memory, random_source
from evener.generating.triangulating import (
    BYTES_A_POINT,
    Triangulation,
    dual_graph,
    simplex_mesh,
    sorted_points,
    triangulate,
)
from evener.graphs import Graph
from evener.meshes import Mesh


def triangle_mesh(n: int, seed: int) -> Mesh:
    """Return about 2n Delaunay triangles over n uniform points of the unit square; n >= 3."""
    made = _uniform(n, 2, seed)
    return simplex_mesh(made.points, made.simplices)


def tetrahedron_mesh(n: int, seed: int) -> Mesh:
    """Return about 6.5n Delaunay tetrahedra over n uniform points of the unit cube; n >= 4."""
    made = _uniform(n, 3, seed)
    return simplex_mesh(made.points, made.simplices)


def triangle_dual(n: int, seed: int) -> Graph:
    """Return the graph of the cells of triangle_mesh, neighbours across an edge."""
    return dual_graph(_uniform(n, 2, seed))


def tetrahedron_dual(n: int, seed: int) -> Graph:
    """Return the graph of the cells of tetrahedron_mesh, neighbours across a face."""
    return dual_graph(_uniform(n, 3, seed))


def _uniform(n: int, d: int, seed: int) -> Triangulation:
    at_least(n, d + 1, "n")
    check_memory(n, BYTES_A_POINT[d], "points")
    return triangulate(sorted_points(random_source(seed).random((n, d))))
