"""Joined graphs: groups of vertices become one vertex each, and blocks are mapped back.

Solvers may need vertices in one block that are not neighbours, such as cells on both sides of a
periodic face. Such a group is divided as if it were one vertex with the sum of the vertices'
weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntArray, NumberArray, Part
from evener.graphs.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class JoinedGraph(Graph):
    """A graph whose vertices are groups; held (n,) is the memory of each group [B].

    A group needs the memory of all its vertices and adjacency entries, also of those that joining
    removes.
    """

    held: FloatArray | None = None

    @property
    def total_bytes(self) -> float:
        """Memory of all groups together [B]."""
        return float(self.vertex_bytes().sum())

    def vertex_bytes(self) -> FloatArray:
        """Return the memory of each group, (n,) [B]."""
        return super().vertex_bytes() if self.held is None else self.held

    def renumbered(self, order: IntArray, xadj: IntArray, adjncy: IntArray) -> Graph:
        """Return the same graph renumbered, as Graph.renumbered."""
        made = super().renumbered(order, xadj, adjncy)
        held = self.vertex_bytes()[order]
        object.__setattr__(made, "held", held)
        return made


@dataclass(frozen=True, eq=False)
class JoinedVertices:
    """A graph with joined vertices; of (n,): the joined vertex of each original vertex.

    of is None if no vertices were joined, and `graph` is the original.
    """

    graph: Graph
    of: npt.NDArray[np.int64] | None = None

    def spread(self, part: Part) -> Part:
        """Return the blocks (n,) int32 of the original vertices from those of the joined graph."""
        return part if self.of is None else np.asarray(part[self.of], np.int32)


def joined(graph: Graph) -> JoinedVertices:
    """Return the graph with the groups of `graph.together` joined; the graph itself without groups.

    Weights of vertices and of parallel edges are added; edges inside groups disappear. A group has
    the coordinates of its first vertex: in a periodic mesh, the mean would lie in the middle of the
    domain.
    """
    if graph.together is None:
        return JoinedVertices(graph)
    first, of = groups_in_order(graph.together)
    weights = graph.weights() if graph.vwgt is None else graph.vwgt
    small = graph_of_groups(graph, of, first.size, _sums(weights, of, first.size))
    made = JoinedGraph(
        small.xadj,
        small.adjncy,
        small.vwgt,
        small.adjwgt,
        coords=None if graph.coords is None else graph.coords[first],
        bytes_per_vertex=graph.bytes_per_vertex,
        bytes_per_edge=graph.bytes_per_edge,
        held=np.asarray(np.bincount(of, graph.vertex_bytes(), first.size), np.float64),
    )
    return JoinedVertices(made, of)


def graph_of_groups(
    graph: Graph, of: npt.NDArray[np.int64], count: int, weights: NumberArray
) -> Graph:
    """Return the graph of `count` groups; the weights of parallel edges are added.

    of (n,): the group of each vertex; weights (count,) or (count, c): of the groups.
    """
    u = np.repeat(of, graph.degrees)
    v = of[graph.adjncy]
    keys, place = np.unique(u * count + v, return_inverse=True)
    edges = np.ones(v.size) if graph.adjwgt is None else graph.adjwgt.astype(np.float64)
    adjwgt = np.bincount(place, edges, keys.size)
    apart = keys // count != keys % count  # edges inside groups
    keys, adjwgt = keys[apart], adjwgt[apart]
    xadj = np.searchsorted(keys, np.arange(count + 1) * count)
    if graph.adjwgt is None or graph.adjwgt.dtype.kind == "i":
        adjwgt = adjwgt.astype(np.int64)
    return Graph(xadj, (keys % count).astype(np.int32), weights, adjwgt)


def groups_in_order(together: IntArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the first vertex of each of g groups (g,), ascending, and each vertex's group (n,).

    Groups are numbered 0 to g - 1. together (n,): vertices with equal numbers are one group, a
    vertex with a negative number is a group of its own.
    """
    alone = together < 0
    label = together.astype(np.int64)
    label[alone] = label.max(initial=0) + 1 + np.arange(np.count_nonzero(alone))
    _, first, group = np.unique(label, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order].astype(np.int64), rank[group].astype(np.int64)


def groups_of_pairs(n: int, pairs: IntArray) -> npt.NDArray[np.int64]:
    """Return the group of each of n vertices (n,), where the vertices of a pair share a group.

    pairs (p, 2): vertices in [0, n). A vertex in no pair gets -1: it is a group of its own.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), (n, n))
    label = connected_components(links, directed=False)[1].astype(np.int64)
    paired = np.zeros(n, bool)
    paired[pairs.ravel()] = True
    return np.where(paired, label, -1)


def split_groups(part: Part, together: IntArray) -> int:
    """Return how many groups of `together` (n,) have vertices in several blocks of `part` (n,)."""
    first, group = groups_in_order(together)
    apart = part != part[first][group]
    return int(np.unique(group[apart]).size)


def _sums(weights: NumberArray, of: npt.NDArray[np.int64], count: int) -> NumberArray:
    """Return the sums of weights (n,) or (n, c) over groups, of the same dtype."""
    columns = weights if weights.ndim == 2 else weights[:, None]
    sums = np.zeros((count, columns.shape[1]), weights.dtype)
    np.add.at(sums, of, columns)
    return cast(NumberArray, sums if weights.ndim == 2 else sums[:, 0])
