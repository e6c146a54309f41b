"""Two-phase streaming (2PS-L [Mayer22]_): clusters of vertices first, then edges by their clusters.

Pass 1 counts degrees. Pass 2 finds clusters with at most the edges of a mean block; these are
packed onto blocks in proportion to targets, the largest first. The home of a vertex is the block of
its cluster. Pass 3 assigns edges whose ends have the same home to it, pass 4 assigns the others to
the home of one end. Memory: for each vertex, one bit per block and four numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray, IntVector, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import clustering_kernels as kernels
from evener.splitting.splits import Split, kept, work_of
from evener.splitting.streaming import empty_blocks


class VertexClusters(NamedTuple):
    """Clusters of vertices.

    of (n,): the cluster of each vertex; a cluster has the number of one of its vertices. volumes
    (n,): for each cluster number, the sum of the degrees of the cluster's vertices.
    """

    of: IntVector
    volumes: IntVector

    @classmethod
    def single(cls, degrees: IntVector) -> VertexClusters:
        """Return one cluster for each vertex."""
        return cls(np.arange(degrees.size), degrees.copy())


def clusters_of(
    read: Callable[[], Iterable[tuple[IntArray, IntArray]]],
    degrees: IntVector,
    m: int,
    k: int,
    passes: int = 1,
) -> tuple[VertexClusters, float]:
    """Return clusters found in `passes` passes over m edges, and the fraction of edges inside them.

    read: yields tails and heads, piece by piece; called once per pass. k: number of blocks. The
    fraction is counted during the last pass, edge by edge.
    """
    clusters, most, inside = VertexClusters.single(degrees), largest_volume(m, k), 0
    for _ in range(passes):
        inside = 0
        for tails, heads in read():
            inside += int(kernels.cluster(tails, heads, degrees, most, *clusters))
    return clusters, inside / max(m, 1)


def homes_of(clusters: VertexClusters, targets: FloatArray) -> Part:
    """Return the home (n,) of each vertex: clusters are packed onto blocks by targets (k,)."""
    order = np.argsort(-clusters.volumes, kind="stable")
    order = order[: np.count_nonzero(clusters.volumes)]
    packed = np.empty(order.size, np.int32)
    sizes = clusters.volumes[order].astype(np.float64)
    kernels.pack(sizes, np.maximum(targets, 1e-300), np.zeros(targets.size), packed)
    homes = np.zeros(clusters.of.size, np.int32)
    homes[order] = packed
    return homes[clusters.of]


def largest_volume(m: int, k: int) -> int:
    """Return the largest volume of a cluster: twice the edges of a mean block."""
    return max(2 * m // k, 1)


def two_phase(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return the blocks of two-phase streaming, in the edges' order."""
    ends, work, part = (edges.tails, edges.heads), work_of(edges), np.empty(edges.m, np.int32)
    clusters, _ = clusters_of(lambda: (ends,), edges.degrees, edges.m, contract.k)
    homes, blocks = homes_of(clusters, contract.targets), empty_blocks(edges.n, contract)
    kernels.place_inside(*ends, work, homes, blocks, part)
    volumes = clusters.volumes[clusters.of]
    kernels.place_between(*ends, work, homes, edges.degrees, volumes, blocks, part)
    return Split(kept(edges, part, contract), order="2ps")
