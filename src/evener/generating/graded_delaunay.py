"""Delaunay graphs of points that crowd around a point and around a curve."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray
from evener.generating.checking import at_least, check_memory, random_source
from evener.generating.triangulating import BYTES_A_POINT, delaunay_graph, sorted_points
from evener.graphs import Graph

CENTRE = (0.3, 0.4)


def graded_delaunay(n: int, seed: int) -> Graph:
    """Return the Delaunay graph of n graded points, along the Hilbert curve; n >= 4.

    Half of them surround CENTRE with a density falling as 1/r^2, half accompany a sine with one
    falling as 1/distance: triangles differ in size by a factor of about 1,000.
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
