"""Whether a graph is made of clusters, as its hierarchy tells: those are no meshes.

In a mesh of d dimensions, groups of s vertices have borders that fall as s^(-1/d): wherever the
graph is shrunk, the weight of the edges left falls with a power of 1/3 to 1/2 of the number of
vertices left. Inside a random cluster it hardly falls; once groups are whole clusters, steeply.
Our multilevel FM then places blocks across clusters, and label propagation cuts less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.levels.levels import Hierarchy, Level, Shrunk, contracted

# Powers seen: meshes in 2-D and 3-D 0.28 to 0.6 in the first two steps, and up to 0.9 later;
# random clusters 0.12 to 0.25 first; cliques and clusters of tens of vertices above 1 later.
SLOW, STEEP = 0.27, 1.0
FIRST = 2  # steps of shrinking that are looked at for a slow fall


def has_clusters(hierarchy: Hierarchy) -> bool:
    """Return whether edges left fall otherwise than in a mesh where the graph was shrunk."""
    levels = [level for level, _ in hierarchy.above] + [hierarchy.coarsest]
    if len(levels) <= FIRST:
        return False
    sizes = np.log([level.n for level in levels])
    weights = [_weight(level) for level in levels]
    if weights[0] == 0:
        return False
    left = np.log(np.maximum(weights, np.finfo(np.float64).tiny))
    slow = left[0] - left[FIRST] < SLOW * (sizes[0] - sizes[FIRST])
    steep = np.diff(left)[1:] < STEEP * np.diff(sizes)[1:]
    return bool(slow or steep.any())


def _weight(level: Level) -> float:
    """Return the weight of all edges, counted from both ends."""
    return float(level.adjwgt.sum() if level.adjwgt.size else level.adjncy.size)


# Leaves of hubs in bundles: vertices whose one edge leads to the same vertex are alike.
#
# Shrinking a graph along its edges joins a hub with one leaf at a time, so a star of a million
# leaves would never become small. Bundles of leaves make it small at once, without hiding any
# border.

LEAST = 50_000  # vertices: smaller graphs are divided fast enough as they are
SHRUNK = 0.5  # of the vertices are left at most, or bundles are not worth it
PER_BLOCK = 256  # bundles that would make up the smallest block


@dataclass(frozen=True, eq=False)
class Bundled:
    """A graph whose leaves are bundled; of (n,): the vertex that each one of the whole became."""

    graph: Graph
    of: npt.NDArray[np.int64]

    def spread(self, blocks: Part) -> Part:
        """Return the blocks (n,) of the whole graph's vertices, by those of the bundled one."""
        return np.asarray(blocks[self.of], np.int32)


def bundled(graph: Graph, smallest: float) -> Bundled | None:
    """Return the graph with its hubs' leaves in bundles of weight up to `smallest` / PER_BLOCK.

    Vertices of several weights are judged by the first. None where the graph is small, or would
    hardly become smaller.
    """
    weights = graph.weights().astype(np.float64)
    leader = _leaders(graph.xadj, graph.adjncy, weights, smallest / PER_BLOCK)
    if leader is None:
        return None
    heads = leader == np.arange(graph.n)
    of = (np.cumsum(heads) - 1)[leader]
    return Bundled(_contracted(graph, of, int(heads.sum()), weights), of)


def leaves_shrunk(level: Level, heaviest: float, threads: int) -> Shrunk | None:
    """Return the level with its hubs' leaves in bundles of weight up to `heaviest`, all one block.

    None where that is not worth it.
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
    """Return the first vertex of every vertex's bundle (n,), itself where it is in none."""
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


def _contracted(
    graph: Graph, of: npt.NDArray[np.int64], count: int, weights: npt.NDArray[np.float64]
) -> Graph:
    """Return the graph of the `count` bundles, with the sums of weights and edge weights."""
    u = np.repeat(of, graph.degrees)
    v = of[graph.adjncy]
    keys, place = np.unique(u * count + v, return_inverse=True)
    edges = np.ones(v.size) if graph.adjwgt is None else graph.adjwgt.astype(np.float64)
    adjwgt = np.bincount(place, edges, keys.size)
    apart = keys // count != keys % count  # two leaves that have but each other are a bundle
    keys, adjwgt = keys[apart], adjwgt[apart]
    xadj = np.searchsorted(keys, np.arange(count + 1) * count)
    if graph.adjwgt is None or graph.adjwgt.dtype.kind == "i":
        adjwgt = adjwgt.astype(np.int64)
    return Graph(
        xadj, (keys % count).astype(np.int32), np.bincount(of, weights, count), adjwgt
    )  # fmt: skip
