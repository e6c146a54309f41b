"""Graphs similar to those of adaptive simulations in the plane: a trace, and bubbles.

[LDHT]_ uses hugetrace and hugebubbles, triangle meshes that a generator of [MS05]_ refined along
the trace of a moving object, and along the rims of bubbles. Their vertices are the triangles, and
edges join triangles with a common side: three neighbours each. This module makes similar graphs
differently: it refines a quadtree towards curves drawn from the seed, triangulates points in its
cells by Delaunay's rule, and returns the graph of the triangles.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import BoolArray, FloatArray
from evener.graphs.generating.checks import at_least, check_memory, random_source
from evener.graphs.generating.delaunay import (
    BYTES_A_POINT,
    dual_graph,
    quadtree_cloud,
    sorted_points,
    triangulate,
)
from evener.graphs.graph import Graph

FINEST = 0.004  # spacing on the curve; it grows by the distance from the curve; only ratios count
STEPS = 4000  # straight segments of the trace
BUBBLES = 12
RADII = (0.03, 0.15)  # of bubbles


def trace_dual(n: int, seed: int) -> Graph:
    """Return the graph of about 2n triangles, small along the trace of a moving object; n >= 4.

    The trace is a Lissajous curve in the unit square, with phases drawn from the seed.
    """
    rng = random_source(seed)
    phase = 2 * np.pi * rng.random(2)
    time = np.linspace(0.0, 1.3 * np.pi, STEPS)
    trace = 0.5 + 0.4 * np.column_stack([np.sin(2 * time + phase[0]), np.sin(3 * time + phase[1])])
    return _dual_around(n, trace, rng)


def bubbles_dual(n: int, seed: int) -> Graph:
    """Return the graph of about 2n triangles, small along the rims of bubbles; n >= 4.

    Bubbles are circles in the unit square, with centres and radii drawn from the seed; they may
    overlap.
    """
    rng = random_source(seed)
    radii = rng.uniform(*RADII, BUBBLES)
    centres = radii[:, None] + rng.random((BUBBLES, 2)) * (1 - 2 * radii[:, None])
    angle = np.linspace(0.0, 2 * np.pi, STEPS // BUBBLES, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    rims = centres[:, None, :] + radii[:, None, None] * circle[None, :, :]
    return _dual_around(n, rims.reshape(-1, 2), rng)


def _dual_around(n: int, curve: FloatArray, rng: np.random.Generator) -> Graph:
    """Return the graph of the triangles of n points that are dense near the points of a curve."""
    from scipy.spatial import cKDTree

    at_least(n, 4, "n")
    check_memory(n, BYTES_A_POINT[2], "points")
    nearest = cKDTree(curve)

    def spacing(centres: FloatArray, _: FloatArray) -> tuple[FloatArray, BoolArray]:
        wanted = FINEST + nearest.query(centres)[0]
        return wanted, np.ones(wanted.size, bool)

    points, _ = quadtree_cloud(n, (0.0, 0.0), 1.0, spacing, rng)
    return dual_graph(triangulate(sorted_points(points)))
