"""Estimate the number of entries of the graph of clusters, and how coarsening reduces it.

Counted for a sample of clusters, in one pass over the rows, before all rows are summed: the graph
of clusters has hundreds of entries per cluster for a random graph, but six to fourteen for a mesh.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.partitioning.label_propagation.propagation import LEAST_UNEVEN_SKEWNESS, skewness_of
from evener.sliced.clusters import SliceClusters
from evener.sliced.memory import ESTIMATED, ClusterGraph
from evener.sliced.rows import SlicedGraph

STRIP = 8  # consecutive clusters that are taken together, to see how their entries fall
SAMPLED_ENTRIES = 1 << 17  # of the graph, that the clusters looked at have: 1 MiB of pairs
SAMPLED_STRIPS = 512  # approximate number of sampled strips; all if there are fewer
LEAST_VERTICES = 2.0  # mean per cluster, below which clusters are too small to estimate `falling`
# Of the degrees of clusters looked at, their deviation over their mean, above which those of all
# are uneven, a tenth above what the partitioner goes by.
SURELY_UNEVEN = 1.1 * LEAST_UNEVEN_SKEWNESS
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: multiples of it are spread

Keys = npt.NDArray[np.int64]


def cluster_graph_of(
    graph: SlicedGraph, clusters: SliceClusters, k: int, *, across: bool
) -> ClusterGraph:
    """Return an estimate of the graph of clusters, which is to be divided into k blocks.

    For a single process. across: whether clusters have vertices of several slices. Then the numbers
    of clusters do not tell which are near each other, so `falling` is derived only from the
    clusters.
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
    """Return the exponent p if coarsening divided n vertices' entries by (n / clusters)^p.

    arcs: number of entries after coarsening. 0 if clusters are too small to tell, 1 if no entries
    are left.
    """
    if arcs <= 0:
        return 1.0
    vertices = graph.n / max(clusters, 1)
    if vertices < LEAST_VERTICES:
        return 0.0
    return math.log(max(graph.arcs / arcs, 1.0)) / math.log(vertices)


class _Sample(NamedTuple):
    """Number of sampled clusters, and of pairs of clusters, and of strips, that their edges join.

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
    """Return pairs of clusters, first * count + second, in rows of slice i in chosen strips."""
    rows = graph.rows(i)
    own = of[rows.first : rows.first + rows.xadj.size - 1]
    wanted = chosen[own // STRIP]
    if not wanted.any():
        return np.empty(0, np.int64)
    degrees = np.diff(rows.xadj)
    begins = np.repeat(own[wanted], degrees[wanted]).astype(np.int64)
    ends = of[rows.adjncy[np.repeat(wanted, degrees)]]
    return np.unique((begins * count + ends)[begins != ends])
