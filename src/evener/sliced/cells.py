"""Cells: clusters across slices, for graphs whose vertices are numbered at random.

One of several vertices is a seed, chosen by a hash of its number. In every round the neighbours of
cells join the cell that most of their edges lead to: cells of about equal radius, like those of a
Voronoi diagram. What a vertex joins depends on the rounds before alone, so that slices can be read
in any order, by any process.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import Part
from evener.sliced import cells_kernels as kernels
from evener.sliced.clusters import SliceClusters
from evener.sliced.rows import N_SLICES, Changed, SlicedGraph

SEED = 7
# Seeds among vertices that no cell has reached: one in so many, then all of them.
LATER_SEEDS = (4, 2, 1)
BLOCK_BITS = 31  # of a block's number, below that of a cluster


def clusters_across(graph: SlicedGraph, vertices: int) -> SliceClusters:
    """Return connected clusters of about so many vertices each, across slices. All call."""
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
    """Return the clusters, one with vertices of several blocks (n_own,) as one for each of these.

    All processes call. Clusters are numbered by what they were, then by block.
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
    """Make seeds of unreached vertices; return how many cells there are then."""
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
    """Let cells grow by their neighbours; return how many vertices have joined one."""
    joined = sum(int(kernels.grow(graph.rows(i), of)) for i in graph.own_slices)
    changed = of[: graph.n_own] <= kernels.NEW
    kernels.end_round(of, 0, graph.n_own)
    graph.fill(of, Changed(changed))
    return sum(graph.comm.allgather(joined))
