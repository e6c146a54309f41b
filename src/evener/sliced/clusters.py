"""Clusters inside slices: the vertices of the small graph that is divided instead of a large one.

Each slice is coarsened separately, by the steps of Evener's partitioner, along the edges inside the
slice. So every slice is read once, and its clusters depend on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import IntVector, Part
from evener.partitioning.levels.levels import GraphLevel, Hierarchy, shrink_all
from evener.sliced import clusters_kernels as kernels
from evener.sliced.rows import N_SLICES, SlicedGraph, SliceRows

SHRINK_BY = 3.0  # mean vertices of the level before that a cluster may weigh: as in PRESETS
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

    None if the share of these slices' edges that lies inside slices is below least_inside.
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
    n, size = rows.xadj.size - 1, int(kernels.arcs_inside(rows))
    weighted = rows.adjwgt.size > 0
    scale = HEAVIEST_EDGE / max(float(rows.adjwgt.max(initial=0)), 1e-300) if weighted else 1.0
    xadj, adjncy = np.empty(n + 1, np.uint32), np.empty(size, np.uint32)
    adjwgt = np.empty(size if weighted else 0, np.int32)
    kernels.take_inside(rows, scale, xadj, adjncy, adjwgt)
    return GraphLevel(xadj, adjncy, adjwgt, rows.vwgt if rows.vwgt.size else np.ones(n))


def _shrunk(level: GraphLevel, blocks: Part, heaviest: float) -> tuple[Part, int]:
    """Return the cluster (n,) of each vertex, inside blocks (n,), and the number of clusters."""
    hierarchy = _hierarchy(level, blocks, heaviest)
    count = hierarchy.coarsest.n
    return hierarchy.on_finest(np.arange(count, dtype=np.int32), threads=1), count


def _hierarchy(level: GraphLevel, blocks: Part, heaviest: float) -> Hierarchy:
    return shrink_all(level, blocks, np.array([heaviest]), 1, SHRINK_BY, threads=1)
