"""A mesh similar to that of a respiratory system: prisms in tubes that fork.

[LDHT]_ uses alyaTestCaseA and B, meshes of airways with 3.96 edges per vertex. Layers of prisms
have about as many per point: three in the layer, one along the tube. These meshes are not public;
this module makes a tree of straight tubes, each filled with layers of prisms, with the same number
of points in every tube. Lengths and radii follow Weibel's symmetric model [Weibel63]_; planes of
forks alternate. At the end of a tube, its points are joined to the nearest points of the two next
tubes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.graphs.generating.checks import at_least, check_memory, random_source
from evener.graphs.generating.delaunay import triangulate
from evener.graphs.graph import Graph
from evener.graphs.hilbert import hilbert_order

GENERATIONS = 5  # of tubes: 1, 2, 4, 8, 16 tubes
TUBES = 2**GENERATIONS - 1
LENGTH = 6.0  # of a tube, in its radii
NARROWING = 2.0 ** (-1 / 3)  # radius of a tube relative to its parent's
FORK = np.radians(35.0)  # angle between a tube and its parent
TO_THE_WALL = 0.4  # exponent of radii: 0.5 is uniform; smaller values move points to the wall
UNEVEN = 0.8  # share of the distance between layers over which a layer's points are spread
FEWEST_ACROSS = 5  # points in a layer
BYTES_A_VERTEX = 300  # peak memory, measured


class _Tube(NamedTuple):
    """Start (3,), axes (3, 3), the first along the tube, radius, and parent tube (-1: none)."""

    start: FloatArray
    axes: FloatArray
    radius: float
    parent: int


def airways(n: int, seed: int) -> Graph:
    """Return the graph of about n points of prisms in forking tubes, along the Hilbert curve.

    n >= 500. All vertices weigh 1, as in the paper.
    """
    from scipy.spatial import cKDTree

    at_least(n, 500, "n")
    check_memory(n, BYTES_A_VERTEX, "vertices")
    rng = random_source(seed)
    # The spacing along a tube equals that across it: layers * sqrt(pi / across) radii in length.
    across = max(FEWEST_ACROSS, round((n * np.sqrt(np.pi) / (TUBES * LENGTH)) ** (2 / 3)))
    layers = max(2, round(n / (TUBES * across)))
    u, v, places = [], [], []
    size = across * layers
    for number, tube in enumerate(_tubes()):
        section = _section(across, rng)
        edges = _edges_of(section)
        at = number * size + across * np.arange(layers)
        u += [(at[:, None] + edges[:, 0]).ravel()]
        v += [(at[:, None] + edges[:, 1]).ravel()]
        points = np.arange(number * size, (number + 1) * size)
        u += [points[:-across]]
        v += [points[across:]]
        # The points of a layer do not lie in one plane, nor do those of a real mesh.
        height = np.arange(layers)[:, None] + 0.5 + UNEVEN * (rng.random((layers, across)) - 0.5)
        flat = np.empty((layers, across, 3))
        flat[:, :, 0], flat[:, :, 1:] = LENGTH / layers * height, section
        places.append(tube.start + tube.radius * flat.reshape(-1, 3) @ tube.axes)
        if tube.parent >= 0:
            end = (tube.parent + 1) * size - across
            nearest = cKDTree(places[tube.parent][-across:]).query(places[number][:across])[1]
            u += [points[:across]]
            v += [end + nearest]
    coords = np.concatenate(places)
    order = hilbert_order(coords)
    number_of = np.empty(order.size, np.int64)
    number_of[order] = np.arange(order.size)
    ends = number_of[np.concatenate(u)], number_of[np.concatenate(v)]
    return Graph.from_edges(order.size, *ends, coords=coords[order])


def _tubes() -> list[_Tube]:
    """Return the tubes, each after its parent."""
    tubes = [_Tube(np.zeros(3), np.eye(3), 1.0, -1)]
    for parent in range(2 ** (GENERATIONS - 1) - 1):
        before = tubes[parent]
        end = before.start + LENGTH * before.radius * before.axes[0]
        along, side, other = before.axes
        for turn in (FORK, -FORK):
            ahead = np.cos(turn) * along + np.sin(turn) * side
            beside = np.cos(turn) * side - np.sin(turn) * along
            # The plane of the next fork is perpendicular to this one.
            axes = np.stack([ahead, other, beside])
            radius = NARROWING * before.radius
            tubes.append(_Tube(end + radius * ahead, axes, radius, parent))
    return tubes


def _section(across: int, rng: np.random.Generator) -> FloatArray:
    """Return points (across, 2) of the unit disc in a sunflower pattern, slightly displaced."""
    i = np.arange(across) + 0.5
    radius = (i / across) ** TO_THE_WALL
    angle = np.pi * (3 - np.sqrt(5)) * i + 2 * np.pi * rng.random()
    spiral = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(spiral + 0.2 / np.sqrt(across) * (rng.random((across, 2)) - 0.5), np.float64)


def _edges_of(section: FloatArray) -> IntArray:
    """Return the edges (m, 2) of a Delaunay triangulation of points in the plane, each once."""
    corners = triangulate(section).simplices
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]))
    return np.unique(edges, axis=0)
