"""Recognises graphs made of clusters, and 3-D graphs; bundles the leaves of hubs.

While a mesh of d dimensions is coarsened, the total edge weight falls with the number of vertices
to the power of about 1/d. In a graph of random clusters it hardly falls while vertices of one
cluster are joined, and falls steeply once clusters are single vertices. On such graphs, multilevel
FM would make blocks that cross clusters, and label propagation cuts less.

Leaves of hubs are bundled because coarsening along edges joins a hub with one leaf per level: a
star of a million leaves would never become small. Bundles of leaves make it small at once, and do
not exclude good borders between blocks.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray
from evener.graphs.graph import Graph
from evener.graphs.joined import JoinedVertices, graph_of_groups
from evener.partitioning.levels.levels import GraphLevel, Hierarchy, Shrunk, contracted

# Powers below SLOW in the first two steps that do not rise by RISING in the second, or powers above
# STEEP later, indicate clusters. Measured in the first two steps: meshes in 2-D and cells in 3-D
# 0.28 to 0.6; grids in 3-D 0.24 to 0.26; nodes of 3-D meshes from 0.05 to 0.18 in the first step to
# 0.18 to 0.33 in the second; random clusters 0.06 to 0.21, hardly rising. Cliques and clusters of
# tens of vertices: later above 1.
SLOW, SLOW_IN_3D, RISING, STEEP = 0.22, 0.27, 1.2, 1.0
FIRST = 2  # number of steps in which a slow fall is measured
LEAST = 50_000  # [vertices] smaller graphs are divided fast enough without bundles
SHRUNK = 0.5  # bundles are used only if at most this fraction of the vertices remains
PER_BLOCK = 256  # least number of bundles in the smallest block


def kind_of(hierarchy: Hierarchy) -> Literal["mesh", "solid", "clusters"]:
    """Return what the graph resembles, by the fall of the edge weight during coarsening.

    "mesh": planar meshes and cells of 3-D meshes; "solid": 3-D grids and the nodes of 3-D meshes.
    """
    levels = [level for level, _ in hierarchy.above] + [hierarchy.coarsest]
    if len(levels) <= FIRST:
        return "mesh"
    sizes = np.log([level.n for level in levels])
    weights = [_weight(level) for level in levels]
    if weights[0] == 0:
        return "mesh"
    left = np.log(np.maximum(weights, np.finfo(np.float64).tiny))
    first = float((left[0] - left[FIRST]) / (sizes[0] - sizes[FIRST]))
    powers = np.diff(left) / np.diff(sizes)
    if (powers[1:] > STEEP).any() or (first < SLOW and powers[1] < RISING * powers[0]):
        return "clusters"
    return "solid" if first < SLOW_IN_3D else "mesh"


def _weight(level: GraphLevel) -> float:
    """Return twice the weight of all edges."""
    return float(level.adjwgt.sum() if level.adjwgt.size else level.adjncy.size)


def bundled(graph: Graph, smallest: float) -> JoinedVertices | None:
    """Return the graph with the leaves of hubs in bundles of weight up to smallest / PER_BLOCK.

    If vertices have several weights, the first counts. Returns None if the graph is small, or would
    hardly become smaller.
    """
    weights = graph.weights().astype(np.float64)
    leader = _leaders(graph.xadj, graph.adjncy, weights, smallest / PER_BLOCK)
    if leader is None:
        return None
    heads = leader == np.arange(graph.n)
    of = (np.cumsum(heads) - 1)[leader]
    count = int(heads.sum())
    return JoinedVertices(graph_of_groups(graph, of, count, np.bincount(of, weights, count)), of)


def leaves_shrunk(level: GraphLevel, heaviest: float, threads: int) -> Shrunk | None:
    """Return the level with the leaves of hubs in bundles of weight up to `heaviest`.

    All vertices of the result are in block 0. Returns None if the level is small, or would hardly
    become smaller.
    """
    leader = _leaders(level.xadj, level.adjncy, level.vwgt, heaviest)
    if leader is None:
        return None
    return contracted(level, np.zeros(level.n, np.int32), leader.astype(np.int32), threads)


def _leaders(
    xadj: npt.NDArray[np.integer[Any]],
    adjncy: npt.NDArray[np.integer[Any]],
    weights: FloatArray,
    heaviest: float,
) -> npt.NDArray[np.int64] | None:
    """Return the first vertex of each vertex's bundle (n,), or the vertex itself if it has none.

    Returns None if bundles are not useful.
    """
    n = weights.size
    if n < LEAST or not heaviest > 0:
        return None
    leaves = np.flatnonzero(np.diff(xadj.astype(np.int64)) == 1)
    if leaves.size < SHRUNK * n:
        return None
    hubs = adjncy[xadj[leaves]].astype(np.int64)
    order = np.argsort(hubs, kind="stable")
    leaves, hubs = leaves[order], hubs[order]
    begins = np.flatnonzero(np.diff(hubs, prepend=-1))
    before = np.cumsum(weights[leaves]) - weights[leaves]  # of the leaves before, in all
    within = before - np.repeat(before[begins], np.diff(np.append(begins, leaves.size)))
    bundle = np.floor(within / heaviest)
    first = (np.diff(hubs, prepend=-1) != 0) | (np.diff(bundle, prepend=-1) != 0)
    if n - leaves.size + int(first.sum()) > SHRUNK * n:
        return None
    leader = np.arange(n)
    leader[leaves] = leaves[np.flatnonzero(first)[np.cumsum(first) - 1]]
    return leader
