"""Cells: clusters across slices, for graphs whose vertices are numbered randomly.

Some vertices are seeds, chosen by a hash of their numbers. In every round, each neighbour of a cell
joins the cell to which most of its edges lead. The cells have about equal radii, like those of a
Voronoi diagram. The cell that a vertex joins depends only on earlier rounds, so slices can be
processed in any order, by any process.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import Part
from evener.sliced import cells_kernels as kernels
from evener.sliced.clusters import SliceClusters
from evener.sliced.rows import N_SLICES, Changed, SlicedGraph

SEED = 7
# Seeds among vertices without a cell: one in this many in each step, finally all of them.
LATER_SEEDS = (4, 2, 1)
BLOCK_BITS = 31  # of a block's number, below that of a cluster


def clusters_across(graph: SlicedGraph, vertices: int) -> SliceClusters:
    """Return connected clusters of about `vertices` vertices each, across slices. Collective."""
    of = np.full(graph.n_local, kernels.UNREACHED, np.int32)
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
        counts[i] = kernels.count_seeds(of, begin, *span, one_in, seed)
    counts = np.sum(graph.comm.allgather(counts), axis=0)
    firsts = count + np.cumsum(counts) - counts
    free = of[: graph.n_own] == kernels.UNREACHED
    for i, span in spans.items():
        kernels.place_seeds(of, begin, *span, one_in, seed, int(firsts[i]))
    graph.fill(of, Changed(free & (of[: graph.n_own] != kernels.UNREACHED)))
    return count + int(counts.sum())


def _grown(graph: SlicedGraph, of: Part) -> int:
    """Add neighbouring vertices to cells, one round; return the number of vertices that joined."""
    joined = sum(int(kernels.grow(graph.rows(i), of)) for i in graph.own_slices)
    changed = of[: graph.n_own] <= kernels.NEW
    kernels.end_round(of, 0, graph.n_own)
    graph.fill(of, Changed(changed))
    return sum(graph.comm.allgather(joined))
