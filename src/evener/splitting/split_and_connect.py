"""Split-and-connect: graphs whose vertex partitions are edge partitions of the original graph.

Split: a vertex of degree d becomes d clones, one for each of its edges; each edge becomes a
dominant edge between its two clones. Connect: the clones of a vertex are joined to a path by d - 1
auxiliary edges ([SPAC]_, Definition 3.2), or to the ring of its footnote 2. A partition of the
clones that cuts no dominant edge is a partition of the edges (Definition 3.3), and it cuts at least
as many auxiliary edges as there are copies of vertices.

`clone_graph` returns this graph. `contracted_graph` returns the graph with every dominant edge
contracted, so that no dominant edge can be cut: it has half the vertices and only auxiliary edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector, Part
from evener.graphs.edge_list import BYTES_PER_LISTED_EDGE, EdgeList, Incidence
from evener.graphs.graph import Graph
from evener.splitting import split_and_connect_kernels as kernels

DOMINANT_WEIGHT = 1000  # of a dominant edge; an auxiliary edge weighs 1 (section 3.2 of [SPAC]_)
LARGEST_SUM = 2**31 - 1  # of the edge weights at all vertices: METIS adds them up in 32 bits


class Clones(NamedTuple):
    """The graph of clones.

    graph: 2m vertices, each with the work of its edge; clone i belongs to the i-th entry of the
    incidence lists. slots (m, 2): the clones of each edge at its tail and at its head. weight:
    weight of a dominant edge.
    """

    graph: Graph
    slots: npt.NDArray[np.int64]
    weight: int

    @property
    def notes(self) -> tuple[str, ...]:
        """A note for the user if dominant edges weigh less than in the paper; otherwise empty."""
        if self.weight == DOMINANT_WEIGHT:
            return ()
        why = "METIS adds weights in 32 bits"
        return (f"a dominant edge weighs {self.weight:,}, not {DOMINANT_WEIGHT:,}: {why}",)


def dominant_weight(m: int) -> int:
    """Return the weight of the dominant edges for a graph of m edges.

    It is DOMINANT_WEIGHT or, if all weights would then exceed LARGEST_SUM, the largest weight that
    is possible, but at least 2.
    """
    room = (LARGEST_SUM - 4 * m) // max(2 * m, 1)  # each edge has at most two auxiliary ones
    return max(min(DOMINANT_WEIGHT, room), 2)


def clone_graph(
    edges: EdgeList, *, closed: bool = False, incidence: Incidence | None = None
) -> Clones:
    """Return the split-and-connect graph of [SPAC]_, Definition 3.2.

    closed: join the clones of a vertex of three or more edges to a ring, as in footnote 2.
    incidence: the edges at each vertex, in the order of its clones; None: in the order of the
    vertices at the other ends.
    """
    offsets, listed = edges.incidence if incidence is None else incidence
    slots = np.empty((edges.m, 2), np.int64)
    weight = dominant_weight(edges.m)
    kernels.find_slots(edges.tails, offsets, listed, slots)
    xadj = np.zeros(2 * edges.m + 1, np.int64)
    kernels.count_neighbours(offsets, closed, xadj)
    np.cumsum(xadj, out=xadj)
    adjncy, adjwgt = np.empty(xadj[-1], np.int64), np.empty(xadj[-1], np.int64)
    kernels.connect(offsets, listed, slots, closed, weight, xadj, adjncy, adjwgt)
    work = None if edges.weights is None else edges.weights[listed]
    return Clones(Graph(xadj, adjncy, vwgt=work, adjwgt=adjwgt), slots, weight)


def contracted_graph(
    edges: EdgeList, *, closed: bool = False, incidence: Incidence | None = None
) -> Graph:
    """Return the graph with one vertex per edge (m), joined by the auxiliary edges only.

    The arguments are those of clone_graph. Parallel auxiliary edges, between edges that share both
    ends, become one edge of weight 2.
    """
    offsets, listed = edges.incidence if incidence is None else incidence
    degrees = np.diff(offsets)
    most = int(np.maximum(degrees - 1, 0).sum() + (np.count_nonzero(degrees > 2) if closed else 0))
    ends = np.empty((2, most), listed.dtype)
    kernels.list_pairs(offsets, listed, closed, ends)
    graph = Graph.from_edges(edges.m, *ends)
    if graph.m < most:  # parallel edges follow each other at both ends
        pairs = np.sort(ends.astype(np.int64), axis=0)
        pairs, counts = np.unique(pairs, axis=1, return_counts=True)
        graph = Graph.from_edges(edges.m, *pairs, weights=counts)
    costs = {"bytes_per_vertex": BYTES_PER_LISTED_EDGE, "bytes_per_edge": 0.0}
    return graph.with_(vwgt=edges.weights, **costs)


def blocks_of_edges(
    part: Part, clones: Clones, targets: FloatArray, work: npt.NDArray[np.generic] | None = None
) -> tuple[Part, int]:
    """Return the block (m,) of every edge from those of the clones (2m,), and the edges cut.

    An edge is cut if its two clones are in different blocks. It is then assigned to the block that
    is farther below its target (k,), relative to the target; cut edges are processed in order.
    """
    ends = np.asarray(part, np.int64)[clones.slots]
    found = ends[:, 0].astype(np.int32)
    cut = np.flatnonzero(ends[:, 0] != ends[:, 1])
    weights = np.ones(found.size) if work is None else np.asarray(work, np.float64)
    whole = ends[:, 0] == ends[:, 1]
    loads = np.bincount(found[whole], weights[whole], targets.size)
    wanted = np.maximum(targets / targets.sum() * weights.sum(), 1e-300)
    kernels.decide(cut, ends, weights, wanted, loads, found)
    return found, int(cut.size)


def order_by(key: npt.NDArray[np.generic]) -> IntVector:
    """Return the position (n,) of each vertex in ascending order of key (n,), ties by number."""
    position = np.empty(key.size, np.int64)
    position[np.argsort(key, kind="stable")] = np.arange(key.size)
    return position
