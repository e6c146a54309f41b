"""Delaunay graphs of points spread evenly over the unit square."""

from __future__ import annotations

from evener.generating.checking import at_least, check_memory, random_source
from evener.generating.triangulating import BYTES_A_POINT, delaunay_graph, sorted_points
from evener.graphs import Graph


def delaunay(n: int, seed: int) -> Graph:
    """Return the Delaunay graph of n uniform points, along the Hilbert curve; n >= 3."""
    at_least(n, 3, "n")
    check_memory(n, BYTES_A_POINT[2], "points")
    return delaunay_graph(sorted_points(random_source(seed).random((n, 2))))
