"""EdgeList: the edges of a graph, the arcs of a directed graph or the entries of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray, IntVector, NumberArray, as_integers, as_weights
from evener.errors import InputError
from evener.graphs import edge_list_kernels as kernels
from evener.graphs.directed import DirectedGraph
from evener.graphs.foreign import SparseMatrix
from evener.graphs.graph import Graph
from evener.graphs.graph_checks import coordinates
from evener.wording import plural

# Memory [B] of an edge on a device: two ends and a value. Copies of vertices need more; their
# number is not known before the edges are divided.
BYTES_PER_LISTED_EDGE = 16.0


class Incidence(NamedTuple):
    """The edges at each vertex: those of v are edges[offsets[v]:offsets[v + 1]].

    offsets (n + 1,) int64; edges (2m,) int32, or int64 from 2^31 edges on, sorted by the position
    of the vertex at the other end.
    """

    offsets: IntVector
    edges: IntArray


@dataclass(frozen=True, eq=False)
class EdgeList:
    """m edges between n vertices, each with its work; an edge partition gives each edge a block.

    tails, heads (m,) int32 (int64 from 2^31 vertices on): the two ends of each edge. Edges may be
    parallel, and may join a vertex to itself (a loop); each counts as separate work. weights (m,)
    int64 or float64 [units], or None: every edge is one unit. coords (n, 2 or 3) float64: of the
    vertices, or None. Raises InputError for vertices out of range, different lengths, and weights
    that are negative or not finite.
    """

    n: int
    tails: IntArray
    heads: IntArray
    weights: NumberArray | None = None
    coords: FloatArray | None = None

    def __post_init__(self) -> None:
        width = np.int32 if self.n < 2**31 else np.int64
        ends = _whole(self.tails, "tails", width), _whole(self.heads, "heads", width)
        if ends[0].size != ends[1].size:
            raise InputError(f"there are {ends[0].size:,} tails but {ends[1].size:,} heads")
        for name, end in zip(("tails", "heads"), ends, strict=True):
            if end.size and (end.min() < 0 or end.max() >= self.n):
                e = int(np.argmax((end < 0) | (end >= self.n)))
                raise InputError(
                    f"edge {e} ends at vertex {end[e]}, of {plural(self.n, 'vertex', 'vertices')}"
                )
            object.__setattr__(self, name, end.astype(width, copy=False))
        if self.weights is not None:
            weights = as_weights(self.weights, "weights")
            if weights.size != self.m:
                raise InputError(f"{weights.size:,} weights for {self.m:,} edges")
            object.__setattr__(self, "weights", weights)
        if self.coords is not None:
            object.__setattr__(self, "coords", coordinates(self.coords, self.n))

    @property
    def m(self) -> int:
        """Number of edges."""
        return int(self.tails.size)

    @property
    def total_weight(self) -> float:
        """Work of all edges [units]."""
        return float(self.m) if self.weights is None else float(self.weights.sum())

    @property
    def touched(self) -> int:
        """Number of vertices that have an edge."""
        return int(np.count_nonzero(self.degrees))

    def opened(self) -> EdgeList:
        """Return the list with the head of each loop replaced by a new vertex, numbered from n on.

        Any partition has the same number of vertex copies in both lists, so methods need no special
        case for loops.
        """
        loops = np.flatnonzero(self.tails == self.heads)
        if not loops.size:
            return self
        heads = self.heads.astype(np.int64)
        heads[loops] = self.n + np.arange(loops.size)
        coords = self.coords
        if coords is not None:
            coords = np.concatenate([coords, coords[self.tails[loops]]])
        return EdgeList(self.n + loops.size, self.tails, heads, self.weights, coords)

    @cached_property
    def degrees(self) -> IntVector:
        """Number of edge ends at each vertex, (n,); a loop counts twice."""
        counts = np.bincount(self.tails, minlength=self.n)
        return (counts + np.bincount(self.heads, minlength=self.n)).astype(np.int64, copy=False)

    @cached_property
    def incidence(self) -> Incidence:
        """The edges at each vertex, by the number of the vertex at the other end."""
        return self.incidence_by(np.arange(self.n))

    def incidence_by(self, position: IntVector) -> Incidence:
        """Return the edges at each vertex, sorted by the position (n,) of the other end.

        position: a permutation of the vertex numbers. Parallel edges keep their order.
        """
        offsets = np.zeros(self.n + 1, np.int64)
        np.cumsum(self.degrees, out=offsets[1:])
        edges: IntArray = np.empty(2 * self.m, np.int32 if self.m < 2**31 else np.int64)
        kernels.list_edges(self.tails, self.heads, np.asarray(position, np.int64), offsets, edges)
        return Incidence(offsets, edges)

    @classmethod
    def of_graph(cls, graph: Graph, *, weighted: bool = False) -> EdgeList:
        """Return the edges u < v of a graph, sorted by u, then v. weighted: with their weights."""
        tails = _tails(graph.xadj, graph.adjncy)
        kept = tails < graph.adjncy
        weights = graph.adjwgt[kept] if weighted and graph.adjwgt is not None else None
        return cls(graph.n, tails[kept], graph.adjncy[kept], weights, graph.coords)

    @classmethod
    def of_arcs(cls, graph: DirectedGraph | Graph, *, weighted: bool = False) -> EdgeList:
        """Return the arcs u -> v of a graph, sorted by u, then v; an edge gives two arcs."""
        arcs = graph.arcs_out()
        weights = arcs.adjwgt if weighted else None
        tails = _tails(arcs.xadj, arcs.adjncy)
        return cls(graph.n, tails, arcs.adjncy, weights, graph.coords)

    @classmethod
    def of_matrix(cls, matrix: SparseMatrix, *, weighted: bool = False) -> EdgeList:
        """Return the stored entries (i, j) of a sparse matrix with r rows, sorted by i, then j.

        Row i is vertex i, column j is vertex r + j: each entry reads one value of x and adds to one
        value of y. Entries stored twice are two edges, in storage order. weighted: the value of an
        entry is its work.
        """
        found = matrix.tocoo()
        rows, columns = np.asarray(found.row, np.int64), np.asarray(found.col, np.int64)
        order = by_ends(rows, columns)
        n_rows, n_columns = found.shape
        weights = np.asarray(found.data)[order] if weighted else None
        return cls(n_rows + n_columns, rows[order], n_rows + columns[order], weights)


def _whole(values: IntArray, name: str, width: type[np.signedinteger]) -> IntArray:
    """Return numbers without a copy if kernels accept the array; else as int64."""
    is_array = (
        isinstance(values, np.ndarray) and values.flags.writeable and values.flags.c_contiguous
    )
    if is_array and values.dtype == width and values.ndim == 1:
        return np.asarray(values)
    return as_integers(values, name)


def by_ends(tails: IntArray, heads: IntArray) -> IntVector:
    """Return edge numbers (m,) sorted by tail, then head; parallel edges keep their order."""
    width = int(heads.max(initial=0)) + 1
    if (int(tails.max(initial=0)) + 1) * width >= 2**63:
        return np.lexsort((heads, tails))
    key = tails.astype(np.int64) * width + heads
    if (np.diff(key) >= 0).all():
        return np.arange(key.size)
    return np.argsort(key, kind="stable")


def _tails(xadj: IntArray, adjncy: IntArray) -> IntArray:
    """Return the vertex whose list contains each entry, (arcs,)."""
    numbers = np.arange(xadj.size - 1, dtype=adjncy.dtype)
    return np.repeat(numbers, np.diff(xadj))
