"""Delaunay graphs refined along a moving front, as adaptive simulations have them."""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.generating.checking import at_least, between, check_memory, random_source
from evener.generating.quadtree import quadtree_cloud
from evener.generating.triangulating import BYTES_A_POINT, delaunay_graph, sorted_points
from evener.graphs import Graph

ORIGIN = np.array([0.35, 0.45])  # where the front starts
FRONT_WIDTH = 0.005  # the spacing stops shrinking this near to the front


def refined_delaunay(n: int, seed: int, time: float = 0.5) -> Graph:
    """Return a Delaunay graph of n points, dense along a front at `time` in [0, 1]; n >= 4.

    The front is a rippled ring that leaves ORIGIN at time 0; the spacing grows in proportion to
    the distance from it. Graphs of one seed and several times are one simulation's steps.
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
    """(n,) radial distance of points (n, 2) from the front."""
    x, y = (points - ORIGIN).T
    ring = (0.05 + 0.6 * time) * (1 + 0.15 * np.sin(5 * np.arctan2(y, x) + 2 * time))
    return np.asarray(np.abs(np.hypot(x, y) - ring), np.float64)
