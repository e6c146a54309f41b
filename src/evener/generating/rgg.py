"""Random geometric graphs: uniform points, neighbours within a radius."""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray
from evener.errors import UsageError
from evener.generating.checking import at_least, between, check_memory, random_source
from evener.generating.triangulating import sorted_points
from evener.graphs import Graph

BYTES_A_VERTEX, BYTES_A_NEIGHBOUR = 100, 20  # at the peak: measured


def rgg(n: int, seed: int, dim: int = 2, degree: float = 12.0) -> Graph:
    """Return the graph of n uniform points of the unit square or cube, along the Hilbert curve.

    Vertices within the radius that gives `degree` neighbours on average are neighbours; those
    near a border have fewer.
    """
    at_least(n, 1, "n")
    if dim not in (2, 3):
        raise UsageError(f"dim must be 2 or 3, not {dim}")
    between(degree, 0, 1000, "degree")
    check_memory(n, BYTES_A_VERTEX + BYTES_A_NEIGHBOUR * min(degree, n), "vertices")
    return rgg_of(sorted_points(random_source(seed).random((n, dim))), degree)


def rgg_of(points: FloatArray, degree: float) -> Graph:
    """Join points (n, 2) or (n, 3) of the unit square or cube; in their order."""
    from scipy.spatial import cKDTree

    n, dim = points.shape
    ball = np.pi if dim == 2 else 4 / 3 * np.pi  # of radius 1
    radius = (degree / (n * ball)) ** (1 / dim)
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return Graph.from_edges(n, pairs[:, 0], pairs[:, 1], coords=points)
