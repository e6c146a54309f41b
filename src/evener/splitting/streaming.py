"""Methods that assign edges one after another: by scores, at random, by hash, or in runs.

Two-phase streaming (2PS-L [Mayer22]_): pass 1 counts degrees; pass 2 finds clusters with at most
the edges of a mean block, which are packed onto blocks in proportion to targets, the largest first;
the home of a vertex is the block of its cluster. Pass 3 assigns edges whose ends have the same home
to it, pass 4 assigns the others to the home of one end. Memory: for each vertex, one bit per block
and four numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntArray, IntVector, Part
from evener.graphs.edge_list import EdgeList
from evener.plans.partition import Contract
from evener.splitting import clustering_kernels, placing_kernels
from evener.splitting.splits import Split, kept, work_of

ROUNDING = 1e-6  # [edges] limits that differ by less from a whole number count as this number
HASH_SLOTS = 4096  # number of entries in the table that maps hashes to blocks


class Rule(NamedTuple):
    """How a stream scores blocks; see placing_kernels.place_by_score for by_degree and balance.

    capped: no block exceeds its upper limit, as long as another block can take the edge.
    """

    by_degree: bool
    balance: float
    capped: bool = True


RULES = {
    "greedy": Rule(by_degree=False, balance=1.0),
    "greedy-uncapped": Rule(by_degree=False, balance=1.0, capped=False),
    "hdrf": Rule(by_degree=True, balance=1.1),  # lambda as its authors chose it
}


def empty_blocks(
    n: int, contract: Contract, *, capped: bool = True, m: int = 0
) -> placing_kernels.FilledBlocks:
    """Return the blocks of a contract without any edges, for n vertices.

    capped: no block exceeds its upper limit, as long as another block can take the edge. m: number
    of edges in the stream, of weight 1; the last edges are then reserved for blocks below their
    lower limits; 0: ignore lower limits, which `enforce` will satisfy afterwards.
    """
    k = contract.k
    return placing_kernels.FilledBlocks(
        np.zeros(k),
        np.zeros(k),
        np.maximum(contract.targets, 1e-300),
        np.array(contract.high, np.float64) if capped else np.full(k, np.inf),
        np.ceil(contract.low - ROUNDING) if m else np.zeros(k),
        np.array([float(m)]),
        np.zeros((n, (k + 63) // 64), np.uint64),
        np.zeros(n, np.int64),
    )


def streamed(edges: EdgeList, contract: Contract, preset: str, seed: int, *, by: str) -> Split:  # noqa: ARG001
    """Return blocks chosen edge by edge by one of RULES, in a random order of the edges."""
    order = np.random.default_rng(seed).permutation(edges.m)
    rule, found = RULES[by], np.full(edges.m, -1, np.int32)
    placing_kernels.place_by_score(
        edges.tails[order], edges.heads[order], work_of(edges)[order], rule.by_degree,
        rule.balance, empty_blocks(edges.n, contract, capped=rule.capped), found,
    )  # fmt: skip
    part = np.empty_like(found)
    part[order] = found
    return Split(kept(edges, part, contract), order=by)


def at_random(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return random blocks, with probabilities in proportion to the targets."""
    shares = contract.targets / contract.targets.sum()
    part = np.random.default_rng(seed).choice(contract.k, edges.m, p=shares).astype(np.int32)
    return Split(kept(edges, part, contract), order="random")


def by_hash(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return the blocks of degree-based hashing (DBH) [Xie14]_."""
    part = np.empty(edges.m, np.int32)
    placing_kernels.place_by_hash(
        edges.tails, edges.heads, work_of(edges), edges.degrees, hash_table(contract.targets),
        empty_blocks(edges.n, contract, capped=False), part,
    )  # fmt: skip
    return Split(kept(edges, part, contract), order="dbh")


def hash_table(targets: FloatArray) -> Part:
    """Return blocks (HASH_SLOTS,), in which each block occurs in proportion to its target."""
    ends = np.cumsum(targets) / targets.sum() * HASH_SLOTS
    return np.searchsorted(ends, np.arange(HASH_SLOTS) + 0.5, "right").astype(np.int32)


def in_order(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return blocks that are runs of consecutive edges, with work near the targets."""
    work = work_of(edges)
    ends = np.cumsum(contract.targets) / contract.targets.sum() * work.sum()
    middles = np.cumsum(work) - work / 2
    part = np.minimum(np.searchsorted(ends, middles, "right"), contract.k - 1)
    return Split(kept(edges, part.astype(np.int32), contract), order="edges")


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
    clusters, inside = VertexClusters.single(degrees), 0
    most = max(2 * m // k, 1)  # volume of a cluster: twice the edges of a mean block
    for _ in range(passes):
        inside = 0
        for tails, heads in read():
            inside += int(clustering_kernels.cluster(tails, heads, degrees, most, *clusters))
    return clusters, inside / max(m, 1)


def homes_of(clusters: VertexClusters, targets: FloatArray) -> Part:
    """Return the home (n,) of each vertex: clusters are packed onto blocks by targets (k,)."""
    order = np.argsort(-clusters.volumes, kind="stable")
    order = order[: np.count_nonzero(clusters.volumes)]
    packed = np.empty(order.size, np.int32)
    sizes = clusters.volumes[order].astype(np.float64)
    clustering_kernels.pack(sizes, np.maximum(targets, 1e-300), np.zeros(targets.size), packed)
    homes = np.zeros(clusters.of.size, np.int32)
    homes[order] = packed
    return homes[clusters.of]


def two_phase(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return the blocks of two-phase streaming, in the edges' order."""
    ends, work, part = (edges.tails, edges.heads), work_of(edges), np.empty(edges.m, np.int32)
    clusters, _ = clusters_of(lambda: (ends,), edges.degrees, edges.m, contract.k)
    homes, blocks = homes_of(clusters, contract.targets), empty_blocks(edges.n, contract)
    clustering_kernels.place_inside(*ends, work, homes, blocks, part)
    volumes = clusters.volumes[clusters.of]
    clustering_kernels.place_between(*ends, work, homes, edges.degrees, volumes, blocks, part)
    return Split(kept(edges, part, contract), order="2ps")
