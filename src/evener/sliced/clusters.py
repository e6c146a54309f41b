"""Clusters: the vertices of the small graph that is divided instead of a large one in slices.

inside slices  each slice is coarsened separately, by the steps of Evener's partitioner, along the
               edges inside the slice; every slice is read once, its clusters depend on no other
across slices  for vertices that are numbered randomly: cells of about equal radii, like those of a
               Voronoi diagram, around seeds that a hash of their numbers chooses; in every round
               each neighbour of a cell joins the cell to which most of its edges lead
by labels      for social networks: label propagation with bounded weights ([MSS17]_)

Clusters across slices depend only on earlier rounds or phases, so slices can be processed in any
order, by any process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector, Part
from evener.partitioning.levels.levels import GraphLevel, Hierarchy, shrink_all
from evener.sliced import cells_kernels, clusters_kernels, labels_kernels
from evener.sliced.gathering import narrow
from evener.sliced.rows import N_SLICES, Changed, SlicedGraph, SliceRows

SHRINK_BY = 3.0  # mean vertices of the level before that a cluster may weigh
HEAVIEST_EDGE = 1 << 20  # whole number that the heaviest edge of a slice counts as


@dataclass(frozen=True, eq=False)
class SliceClusters:
    """The cluster of every vertex.

    of (n_local,) int32: the cluster of each own vertex and ghost; clusters are numbered slice by
    slice, over all slices. count: number of clusters of the graph. inside: number of adjacency
    entries of the graph whose two ends are in one slice.
    """

    of: Part
    count: int
    inside: int


SAMPLES = (7, 31, 55)  # slices whose clusters are made to see how many neighbours these have


def entries_of_clusters(graph: SlicedGraph, heaviest: float, least_inside: float) -> float | None:
    """Return the mean number of neighbours of a cluster, from some slices; for a single process.

    Returns None if the share of these slices' edges that lies inside slices is below least_inside.
    heaviest: see `clusters_in_slices`.
    """
    count, entries, inside, arcs = 0, 0.0, 0, 0
    for i in SAMPLES:
        rows = graph.rows(i)
        level = level_inside(rows)
        inside, arcs = inside + level.adjncy.size, arcs + rows.adjncy.size
        if level.n == 0 or level.adjncy.size == 0:
            continue
        coarsest = _hierarchy(level, np.zeros(level.n, np.int32), heaviest).coarsest
        between = float(coarsest.adjwgt.sum()) if coarsest.adjwgt.size else coarsest.adjncy.size
        # Edges that leave the slice join as many others as those inside do.
        leaving = (rows.adjncy.size - level.adjncy.size) * coarsest.adjncy.size / max(between, 1.0)
        count, entries = count + coarsest.n, entries + coarsest.adjncy.size + leaving
    return entries / count if inside >= least_inside * arcs and count else None


def clusters_in_slices(
    graph: SlicedGraph, heaviest: float, blocks: Part | None = None
) -> SliceClusters:
    """Return clusters inside slices, of weight near `heaviest` and below 2 * heaviest. Collective.

    Clusters of ghosts are not set: call `graph.fill` for these. blocks (n_own,) int32: no cluster
    has vertices of two blocks.
    """
    of = np.empty(graph.n_local, np.int32)
    counts, inside = np.zeros(N_SLICES, np.int64), 0
    for i in graph.own_slices:
        rows = graph.rows(i)
        level = level_inside(rows)
        inside += level.adjncy.size
        own = slice(rows.first, rows.first + level.n)
        inside_of = np.zeros(level.n, np.int32) if blocks is None else blocks[own]
        of[own], counts[i] = _shrunk(level, inside_of, heaviest)
    of_ranks = graph.comm.allgather((counts, inside))
    counts = np.sum([one for one, _ in of_ranks], axis=0)
    firsts = np.concatenate([[0], np.cumsum(counts)])
    _number(of, graph, firsts)
    return SliceClusters(of, int(firsts[-1]), sum(found for _, found in of_ranks))


def _number(of: Part, graph: SlicedGraph, firsts: IntVector) -> None:
    """Replace the clusters' numbers within each slice by numbers within the graph."""
    begin = graph.ends[graph.own_slices.start]
    for i in graph.own_slices:
        first, last = (graph.ends[i : i + 2] - begin).tolist()
        of[first:last] += np.int32(firsts[i])


def level_inside(rows: SliceRows) -> GraphLevel:
    """Return the graph of a slice: its vertices and the edges inside the slice."""
    n, size = rows.xadj.size - 1, int(clusters_kernels.arcs_inside(rows))
    weighted = rows.adjwgt.size > 0
    scale = HEAVIEST_EDGE / max(float(rows.adjwgt.max(initial=0)), 1e-300) if weighted else 1.0
    xadj, adjncy = np.empty(n + 1, np.uint32), np.empty(size, np.uint32)
    adjwgt = np.empty(size if weighted else 0, np.int32)
    clusters_kernels.take_inside(rows, scale, xadj, adjncy, adjwgt)
    return GraphLevel(xadj, adjncy, adjwgt, rows.vwgt if rows.vwgt.size else np.ones(n))


def _shrunk(level: GraphLevel, blocks: Part, heaviest: float) -> tuple[Part, int]:
    """Return the cluster (n,) of each vertex, inside blocks (n,), and the number of clusters."""
    hierarchy = _hierarchy(level, blocks, heaviest)
    count = hierarchy.coarsest.n
    return hierarchy.on_finest(np.arange(count, dtype=np.int32), threads=1), count


def _hierarchy(level: GraphLevel, blocks: Part, heaviest: float) -> Hierarchy:
    return shrink_all(level, blocks, np.array([heaviest]), 1, SHRINK_BY, threads=1)


SEED = 7
# Seeds among vertices without a cell: one in this many in each step, finally all of them.
LATER_SEEDS = (4, 2, 1)
BLOCK_BITS = 31  # of a block's number, below that of a cluster


def clusters_across(graph: SlicedGraph, vertices: int) -> SliceClusters:
    """Return connected clusters of about `vertices` vertices each, across slices. Collective."""
    of = np.full(graph.n_local, cells_kernels.UNREACHED, np.int32)
    count, left = 0, graph.n
    for turn, one_in in enumerate((max(vertices, 1), *LATER_SEEDS)):
        more = _seeded(graph, of, count, one_in, SEED + turn)
        left -= more - count
        count = more
        while left > 0 and (joined := _grown(graph, of)) > 0:
            left -= joined
        if left == 0:
            break
    return SliceClusters(of, count, 0)


def split_by_block(graph: SlicedGraph, clusters: SliceClusters, blocks: Part) -> SliceClusters:
    """Split each cluster that has vertices of several blocks (n_own,) into one cluster per block.

    Collective. New clusters are numbered by old cluster, then by block.
    """
    own = clusters.of[: graph.n_own]
    pairs = own.astype(np.int64) << BLOCK_BITS | blocks
    of_ranks = graph.comm.allgather(np.unique(pairs))
    known = np.unique(np.concatenate(of_ranks))
    of = np.empty(graph.n_local, np.int32)
    of[: graph.n_own] = np.searchsorted(known, pairs)
    graph.fill(of)
    return SliceClusters(of, int(known.size), clusters.inside)


def _seeded(graph: SlicedGraph, of: Part, count: int, one_in: int, seed: int) -> int:
    """Make seeds of some vertices without a cell; return the new number of cells."""
    ends = graph.ends
    begin = int(ends[graph.own_slices.start])
    spans = {i: (ends[i : i + 2] - begin).tolist() for i in graph.own_slices}
    counts = np.zeros(N_SLICES, np.int64)
    for i, span in spans.items():
        counts[i] = cells_kernels.count_seeds(of, begin, *span, one_in, seed)
    counts = np.sum(graph.comm.allgather(counts), axis=0)
    firsts = count + np.cumsum(counts) - counts
    free = of[: graph.n_own] == cells_kernels.UNREACHED
    for i, span in spans.items():
        cells_kernels.place_seeds(of, begin, *span, one_in, seed, int(firsts[i]))
    graph.fill(of, Changed(free & (of[: graph.n_own] != cells_kernels.UNREACHED)))
    return count + int(counts.sum())


def _grown(graph: SlicedGraph, of: Part) -> int:
    """Add neighbouring vertices to cells, one round; return the number of vertices that joined."""
    joined = sum(int(cells_kernels.grow(graph.rows(i), of)) for i in graph.own_slices)
    own = of[: graph.n_own]
    changed = own <= cells_kernels.NEW
    own[changed] = cells_kernels.NEW - own[changed]
    graph.fill(of, Changed(changed))
    return sum(graph.comm.allgather(joined))


PHASES = 8  # of a round
ROUNDS = 3
MANY_EDGES = 30  # vertices with as many or more ask last, in any order


class LabelClusters(NamedTuple):
    """Clusters made by label propagation.

    of (n_local,) int32: the cluster of each own vertex and ghost, below `n_clusters`.
    inside: share of the total edge weight whose two ends are in one cluster.
    """

    of: Part
    n_clusters: int
    inside: float


class _Asked(NamedTuple):
    """Requests of a slice: rows, requested clusters, and the rows' weights, (0,) if all are 1."""

    rows: Part
    clusters: Part
    weights: npt.NDArray[np.float32]


def clusters_by_labels(graph: SlicedGraph, heaviest: float) -> LabelClusters:
    """Return clusters across slices of weight <= `heaviest` [units], or of one vertex. Collective.

    Each process needs 13 bytes per vertex of the graph meanwhile.
    """
    labels = _Labels(graph, heaviest)
    for turn in range(ROUNDS + 1):
        for phase in range(PHASES):
            labels.act(range(phase, N_SLICES, PHASES), pairs=turn == ROUNDS)
    return labels.numbered()


class _Labels:
    """State of the clustering; for `labels` see the kernels."""

    def __init__(self, graph: SlicedGraph, heaviest: float) -> None:
        self.graph, self.heaviest = graph, np.float32(heaviest)
        self.begin = int(graph.ends[graph.own_slices.start])
        of = np.empty(graph.n_local, np.int32)
        of[: graph.n_own] = np.arange(self.begin, self.begin + graph.n_own, dtype=np.int32)
        graph.fill(of)
        self.labels = labels_kernels.Labels(
            of, _weights(graph), np.zeros(graph.n, np.int8), np.zeros(graph.n, np.float32),
            np.full(graph.n, -1, np.int32),
        )  # fmt: skip

    def act(self, slices: Sequence[int], *, pairs: bool) -> None:
        """Run one phase: collect the requests of its slices, and grant them within the bound.

        pairs: whether vertices that want the same cluster may join each other.
        """
        graph = self.graph
        of_slices = {i: self._ask(graph.rows(i), pairs) for i in slices if i in graph.own_slices}
        everyone = {i: one for some in graph.comm.allgather(of_slices) for i, one in some.items()}
        changed = np.zeros(graph.n_own, np.bool_)
        for i in slices:
            rows, clusters, weights = everyone[i]
            askers = rows.astype(np.int64) + graph.ends[i]
            granted = np.empty(rows.size, np.bool_)
            labels_kernels.grant(
                askers, clusters.astype(np.int64), weights.astype(np.float32), self.labels,
                self.heaviest, granted,
            )  # fmt: skip
            if i in graph.own_slices:
                self.labels.of[askers[granted] - self.begin] = clusters[granted]
                changed[askers[granted] - self.begin] = True
        graph.fill(self.labels.of, Changed(changed, slices))

    def _ask(self, rows: SliceRows, pairs: bool) -> _Asked:
        """Return the requests of the rows of a slice."""
        degrees = np.minimum(np.diff(rows.xadj), MANY_EDGES)
        order = np.argsort(degrees, kind="stable")
        asking, asked = np.empty(order.size, np.int32), np.empty(order.size, np.int32)
        count = labels_kernels.ask(
            rows, self.begin, order, self.labels, self.heaviest, pairs, asking, asked
        )  # fmt: skip
        asking, asked = asking[:count], asked[:count]
        weights = rows.vwgt[asking] if rows.vwgt.size else rows.vwgt
        return _Asked(narrow(asking), narrow(asked), weights.astype(np.float32))

    def numbered(self) -> LabelClusters:
        """Return the clusters, renumbered without gaps."""
        graph, of, numbers = self.graph, self.labels.of, self.labels.last
        count = int(labels_kernels.number(self.labels.state, numbers))
        labels_kernels.rename(of, numbers)
        own = [labels_kernels.weight_inside(graph.rows(i), of) for i in graph.own_slices]
        found = [one for some in graph.comm.allgather(own) for one in some]
        inside, total = (float(sum(column)) for column in zip(*found, strict=True))
        return LabelClusters(of, count, inside / total if total > 0 else 1.0)


def _weights(graph: SlicedGraph) -> npt.NDArray[np.float32]:
    """Return the weights (n,) of all vertices of the graph, on every process."""
    own = [graph.weights(i).astype(np.float32) for i in graph.own_slices]
    of_ranks = graph.comm.allgather([narrow(one) for one in own])
    found = [one for some in of_ranks for one in some if one.size]
    return np.concatenate(found, dtype=np.float32) if found else np.ones(graph.n, np.float32)
