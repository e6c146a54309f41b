"""Contraction: sum rows, slice by slice, into the graph of their clusters.

Edges between clusters are summed in a hash table of 12 bytes per slot (16 if edges have weights).
If clusters lie inside slices, an edge is complete after the slice of its lower cluster: then the
table holds the edges of one slice at a time, and 8 bytes per finished edge (12 if edges have
weights) are stored. Otherwise the table holds all edges. Each rank sums its own rows; rank 0 adds
up all ranks' tables.

Sums over several slices must not depend on which ranks hold the slices: real numbers are first
rounded to multiples of a power of two, so that their sums are exact in any order.

The number of entries of the graph of clusters is estimated from a sample of clusters, in one pass
before all rows are summed: hundreds per cluster for a random graph, six to fourteen for a mesh.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, Part
from evener.arrays_kernels import SPREAD
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.propagation import LEAST_UNEVEN_SKEWNESS, skewness_of
from evener.running.comm import Comm
from evener.sliced import contraction_kernels as kernels
from evener.sliced.clusters import SliceClusters
from evener.sliced.gathering import narrow
from evener.sliced.memory import ESTIMATED, ClusterGraph
from evener.sliced.rows import N_SLICES, SlicedGraph

Keys = npt.NDArray[np.int64]
Sums = npt.NDArray[Any]


class UpperEdges(NamedTuple):
    """Edges from consecutive clusters to clusters of higher numbers; `first` is the first cluster.

    starts (c + 1,) int64: edges starts[i] to starts[i + 1] - 1 are those of cluster first + i.
    higher (e,) int32, weights (e,): the higher cluster and the weight of each edge.
    """

    first: int
    starts: npt.NDArray[np.int64]
    higher: Part
    weights: Sums


def lists_of(edges: list[UpperEdges], n: int) -> tuple[npt.NDArray[np.int64], Part, Sums]:
    """Return xadj (n + 1,), adjncy and adjwgt, in ascending lists; empties `edges`."""
    xadj = np.zeros(n + 1, np.int64)
    for one in edges:
        kernels.add_degrees(one.first, one.starts, one.higher, xadj)
    np.cumsum(xadj, out=xadj)
    kind = edges[0].weights.dtype if edges else np.dtype(np.int32)
    adjncy, adjwgt = np.empty(int(xadj[n]), np.int32), np.empty(int(xadj[n]), kind)
    ends = xadj[:-1].copy()
    edges.reverse()
    while edges:
        kernels.list_both(*edges.pop(), ends, adjncy, adjwgt)
    kernels.sort_lists(xadj, adjncy, adjwgt)
    return xadj, adjncy, adjwgt


class EdgeSums:
    """Sums of the weights of edges between clusters, in a hash table that grows."""

    def __init__(self, expected: int, *, weighted: bool) -> None:
        self.keys: Keys
        self.sums: Sums
        self.used = 0
        self._type = np.float64 if weighted else np.int32
        self._make(max(kernels.LEAST_PLACES, 1 << int(expected / kernels.FULLEST).bit_length()))

    def add_rows(self, rows: Any, of: Part) -> None:
        """Add the edges of these rows between clusters; of (n_local,): each vertex's cluster."""
        at, n_rows = 0, rows.xadj.size - 1
        while at < n_rows:
            at, self.used = kernels.add_rows(rows, of, at, self.keys, self.sums, self.used)
            if at < n_rows:
                least = self.used + int(rows.xadj[at + 1] - rows.xadj[at])
                self._grow(int(least / kernels.FULLEST))

    def add_pairs(self, keys: Keys, sums: Sums) -> None:
        """Add sums (p,) for keys (p,); a key stands for two clusters."""
        if self.used + keys.size > kernels.FULLEST * self.keys.size:
            self._grow(int((self.used + keys.size) / kernels.FULLEST))
        self.used += int(kernels.add_pairs(keys, sums, self.keys, self.sums))

    def pairs(self) -> tuple[Keys, Sums]:
        """Return the keys and their sums, without empty slots."""
        has = self.keys != kernels.FREE
        return self.keys[has], self.sums[has]

    def taken(self, first: int, last: int) -> UpperEdges:
        """Remove and return the edges whose lower clusters are `first` to last - 1."""
        starts = np.zeros(last - first + 1, np.int64)
        kernels.count_upper(self.keys, first, starts)
        size = int(starts[-1])
        higher, weights = np.empty(size, np.int32), np.empty(size, self._type)
        kernels.list_upper(self.keys, self.sums, first, starts[:-1].copy(), higher, weights)
        self.keys.fill(kernels.FREE)
        self.sums.fill(0)
        self.used = 0
        return UpperEdges(first, starts, higher, weights)

    def _make(self, places: int) -> None:
        self.keys = np.full(places, kernels.FREE, np.int64)
        self.sums = np.zeros(places, self._type)

    def _grow(self, least: int) -> None:
        keys, sums = self.keys, self.sums
        self._make(max(2 * keys.size, 1 << least.bit_length()))
        kernels.add_pairs(keys, sums, self.keys, self.sums)


def contract(
    graph: SlicedGraph, of: Part, count: int, *, points: bool = False, across: bool = True
) -> Graph | None:
    """Return the graph of the `count` clusters at rank 0, None elsewhere. Collective.

    of (n_local,) int32: the cluster of each own vertex and ghost; no cluster is empty. Weights of
    clusters and edges are sums. points: whether to compute the clusters' centres, if the graph has
    coordinates. across: whether clusters may have vertices of several slices.
    """
    edges, sums = _summed(graph, of, count, points=points, across=across)
    return _graph_of(lists_of(edges, count), sums) if graph.comm.rank == 0 else None


def _summed(
    graph: SlicedGraph, of: Part, count: int, *, points: bool, across: bool
) -> tuple[list[UpperEdges], FloatArray]:
    """Return edges and sums of clusters: those of all ranks at rank 0. See `contract`."""
    by_slice = not across and graph.comm.size == 1
    expected = 4 * count // (N_SLICES if by_slice else graph.comm.size)
    table, edges = EdgeSums(expected, weighted=graph.edges_weigh), []
    sums = np.zeros((2 + (graph.dimension if points else 0), count))
    steps = _exact_steps(graph, of, count, points=points) if across else NO_STEPS
    for i in graph.own_slices:
        rows = graph.rows(i)
        table.add_rows(rows._replace(adjwgt=_rounded(rows.adjwgt, steps.edges)), of)
        own = of[rows.first : rows.first + rows.xadj.size - 1]
        along = _rounded(graph.points(i), steps.points).T if points else ()
        vwgt = _rounded(rows.vwgt, steps.weights) if rows.vwgt.size else None
        _add(sums, own, [None, vwgt, *along])
        if by_slice and own.size:
            edges.append(table.taken(int(own.min()), int(own.max()) + 1))
    if graph.comm.size > 1:
        _gather(table, sums, graph.comm)
    if not by_slice and graph.comm.rank == 0:
        edges.append(table.taken(0, count))
    return edges, sums


class ExactSteps(NamedTuple):
    """Powers of two to whose multiples weights and coordinates are rounded; 0: no rounding."""

    weights: float = 0.0
    edges: float = 0.0
    points: float = 0.0


NO_STEPS = ExactSteps()
EXACT_BITS = 52  # of the significand of a float64


def _exact_steps(graph: SlicedGraph, of: Part, count: int, *, points: bool) -> ExactSteps:
    """Return rounding steps with which sums over clusters are exact. Collective.

    No rounding is needed for integers whose sums are below 2^52.
    """
    most = np.zeros(N_SLICES)  # vertices of a cluster in each slice
    largest = np.zeros((4, N_SLICES))  # weight, edge weight, coordinate; degree
    begin = int(graph.ends[graph.own_slices.start])
    for i in graph.own_slices:
        first, last = (graph.ends[i : i + 2] - begin).tolist()
        most[i] = np.bincount(of[first:last], minlength=count).max(initial=0)
        largest[0, i] = np.abs(graph.weights(i)).max(initial=0)
        if graph.edges_weigh:
            rows = graph.rows(i)
            largest[1, i] = np.abs(rows.adjwgt).max(initial=0)
            largest[3, i] = np.diff(rows.xadj).max(initial=0)
        if points and graph.dimension:
            largest[2, i] = np.abs(graph.points(i)).max(initial=0)
    of_ranks = np.array(graph.comm.allgather(np.vstack([largest, most]))).max(axis=0)
    together = float(of_ranks[4].sum())
    weight, edge, coordinate, degree = of_ranks[:4].max(axis=1).tolist()
    return ExactSteps(
        _step(weight * together), _step(edge * degree * together), _step(coordinate * together)
    )


def _step(most: float) -> float:
    """Return the least power of two above most / 2^EXACT_BITS; 0 if `most` is 0."""
    return float(np.ldexp(1.0, int(np.frexp(most)[1]) - EXACT_BITS)) if most > 0 else 0.0


def _rounded(values: FloatArray, step: float) -> FloatArray:
    """Return the values rounded to multiples of a step; unchanged if the step is 0."""
    return values if step == 0 else np.rint(values / step) * step


def _add(sums: FloatArray, own: Part, values: list[FloatArray | None]) -> None:
    """Add values of vertices to their clusters' sums, a row per kind; None: 1 per vertex."""
    if own.size == 0:
        return
    first, last = int(own.min()), int(own.max()) + 1
    for row, value in zip(sums, values, strict=True):
        row[first:last] += np.bincount(own - first, value, last - first)


def _gather(table: EdgeSums, sums: FloatArray, comm: Comm) -> None:
    """Add the edges and sums of all other ranks to those of rank 0."""
    used = np.flatnonzero(sums[0])
    outgoing = [(_NO_KEYS, _NO_KEYS, _NO_KEYS, [one[:0] for one in sums])] * comm.size
    if comm.rank > 0:
        keys, weights = table.pairs()
        order = np.argsort(keys)
        steps, between = (narrow(np.diff(one, prepend=0)) for one in (keys[order], used))
        outgoing[0] = (steps, narrow(weights[order]), between, [narrow(one[used]) for one in sums])
    for steps, weights, between, more in comm.exchange(outgoing):
        table.add_pairs(np.cumsum(steps, dtype=np.int64), weights.astype(table.sums.dtype))
        clusters = np.cumsum(between, dtype=np.int64)
        for row, one in zip(sums, more, strict=True):
            row[clusters] += one


def _graph_of(lists: tuple[npt.NDArray[np.int64], Part, Sums], sums: FloatArray) -> Graph:
    """Return the graph with these adjacency lists.

    sums (2 + d, n): the number of vertices of each cluster, their weight, and the sums of their
    coordinates, which are overwritten.
    """
    vwgt = sums[1].astype(np.int64) if (sums[1] == np.rint(sums[1])).all() else sums[1].copy()
    coords = None
    if len(sums) > 2:
        sums[2:] /= sums[0]
        coords = np.ascontiguousarray(sums[2:].T)
    xadj, adjncy, adjwgt = lists
    return Graph(xadj, adjncy, vwgt, adjwgt, coords)


_NO_KEYS = np.empty(0, np.int64)


STRIP = 8  # consecutive clusters that are taken together, to see how their entries fall
SAMPLED_ENTRIES = 1 << 17  # of the graph, that the clusters looked at have: 1 MiB of pairs
SAMPLED_STRIPS = 512  # approximate number of sampled strips; all if there are fewer
LEAST_VERTICES = 2.0  # mean per cluster, below which clusters are too small to estimate `falling`
# Of the degrees of clusters looked at, their deviation over their mean, above which those of all
# are uneven, a tenth above what the partitioner goes by.
SURELY_UNEVEN = 1.1 * LEAST_UNEVEN_SKEWNESS


def cluster_graph_of(
    graph: SlicedGraph, clusters: SliceClusters, k: int, *, across: bool
) -> ClusterGraph:
    """Return an estimate of the graph of clusters, which is to be divided into k blocks.

    For a single process. across: whether clusters have vertices of several slices. Then consecutive
    clusters need not be near each other, so `falling` is estimated without strips of clusters.
    """
    found = _sampled(graph, clusters.of, clusters.count)
    arcs = found.pairs * clusters.count / max(found.clusters, 1)
    falling = falling_of(graph, clusters.count, arcs)
    if not across and found.pairs:
        left = max(found.strip_pairs, 1) / found.pairs
        falling = max(falling, -math.log(left) / math.log(STRIP))
    most = min(ESTIMATED * arcs, graph.arcs)
    uneven = graph.dimension == 0 and found.skewness > SURELY_UNEVEN
    return ClusterGraph(clusters.count, most, falling, across, k, uneven)


def falling_of(graph: SlicedGraph, clusters: int, arcs: float) -> float:
    """Return the exponent p: coarsening divided the number of entries by (n / clusters)^p.

    arcs: number of entries after coarsening. Returns 0 if clusters are too small to tell, 1 if no
    entries are left.
    """
    if arcs <= 0:
        return 1.0
    vertices = graph.n / max(clusters, 1)
    if vertices < LEAST_VERTICES:
        return 0.0
    return math.log(max(graph.arcs / arcs, 1.0)) / math.log(vertices)


class _Sample(NamedTuple):
    """Number of sampled clusters, of cluster pairs joined by their edges, and of such strip pairs.

    A strip is a run of consecutive clusters. skewness: of the degrees of the sampled clusters.
    """

    clusters: int
    pairs: int
    strip_pairs: int
    skewness: float


def _sampled(graph: SlicedGraph, of: Part, count: int) -> _Sample:
    """Sample whole strips of consecutive clusters, spread over all clusters."""
    strips = -(-count // STRIP)
    one_in = max(1, round(strips / SAMPLED_STRIPS), math.ceil(graph.arcs / SAMPLED_ENTRIES))
    one_in = min(one_in, max(strips // 2, 1))
    chosen = np.arange(strips, dtype=np.uint64) * SPREAD >> np.uint64(32)
    chosen = chosen % np.uint64(one_in) == 0
    if not chosen.any():
        chosen[0] = True
    pieces = [_pairs_of(graph, i, of, count, chosen) for i in graph.own_slices]
    pairs = np.unique(np.concatenate(pieces))
    begins, ends = pairs // count // STRIP, pairs % count // STRIP
    joined = np.unique((begins * strips + ends)[begins != ends])
    last = STRIP * strips - count  # clusters that the last strip lacks
    looked_at = STRIP * int(np.count_nonzero(chosen)) - last * bool(chosen[-1])
    _, degrees = np.unique(pairs // count, return_counts=True)
    skewness = skewness_of(looked_at, int(pairs.size), int(np.dot(degrees, degrees)))
    return _Sample(looked_at, int(pairs.size), int(joined.size), skewness)


def _pairs_of(
    graph: SlicedGraph, i: int, of: Part, count: int, chosen: npt.NDArray[np.bool_]
) -> Keys:
    """Return adjacent clusters, as first * count + second, of rows of slice i in chosen strips."""
    first, last = graph.ends[i : i + 2].tolist()
    own = of[first:last]
    wanted = chosen[own // STRIP]
    if not wanted.any():
        return np.empty(0, np.int64)
    rows = graph.rows(i)
    degrees = np.diff(rows.xadj)
    begins = np.repeat(own[wanted], degrees[wanted]).astype(np.int64)
    ends = of[rows.adjncy[np.repeat(wanted, degrees)]]
    return np.unique((begins * count + ends)[begins != ends])
