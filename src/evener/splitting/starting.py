"""Initial edge partitions from vertices, and from groups of edges, without a graph of all edges.

Both call a partitioner for a graph that is much smaller than that of split-and-connect, and derive
blocks of edges from its result. For groups, these are refined level by level to reduce copies.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evener.arrays import Part
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.plans.partition import Contract, Partition
from evener.splitting.copies_kernels import EdgeGroups, Limits
from evener.splitting.groups import levels_of, single_edges
from evener.splitting.refining import LEAST_SHARE, Effort, levelled, refine_level
from evener.splitting.splits import asked_of_tool, kept

# Number of groups per block on the coarsest level; set by hand on power-law graphs, where 40 is no
# better.
GROUPS_PER_BLOCK = 20
# In the graph of groups, the groups at a vertex form a clique if they are at most this many, else a
# ring.
MOST_IN_CLIQUE = 5
VERTEX_WEIGHT = 60  # determines the weights of a vertex's edges there; divisible by 1 to 5


def by_vertices(
    edges: EdgeList, contract: Contract, tool: str, seed: int, preset: str = "default"
) -> Part:
    """Return blocks of edges (m,) from a vertex partition, in which vertices weigh their degrees.

    An edge between blocks a and b is assigned to the smaller number if a + b is even, else to the
    larger. So all edges between a and b are in one block, and only vertices of the other block are
    copied. Every block satisfies its limits.
    """
    graph = Graph.from_edges(edges.n, edges.tails, edges.heads)
    weighted = graph.with_(vwgt=_work_at_vertices(edges))
    blocks = partition_with(tool, weighted, asked_of_tool(contract, preset, seed, 2)).part
    a, b = blocks[edges.tails], blocks[edges.heads]
    part = np.where((a + b) % 2 == 0, np.minimum(a, b), np.maximum(a, b)).astype(np.int32)
    limits = limits_of(part, single_edges(edges), contract)
    levelled(single_edges(edges), part, limits, np.random.default_rng(seed))
    return kept(edges, part, contract).part


def _work_at_vertices(edges: EdgeList) -> npt.NDArray[np.number]:
    """Return the work (n,) of each vertex's edges [units], at least 1 or, with weights, 1e-9."""
    if edges.weights is None:
        return np.maximum(edges.degrees, 1)
    ends = edges.tails, edges.heads
    return np.maximum(sum(np.bincount(end, edges.weights, edges.n) for end in ends), 1e-9)


def by_groups(
    edges: EdgeList, contract: Contract, tool: str, effort: Effort, seed: int
) -> tuple[Part, int]:
    """Return blocks of edges (m,) from a partition of groups of edges, and the copies saved.

    The blocks are refined level by level, which saves these copies.
    """
    rng, finest = np.random.default_rng(seed), single_edges(edges)
    most = finest.work.sum() / (LEAST_SHARE * contract.k)
    whole = np.zeros(edges.m, np.int32)
    levels = levels_of(finest, whole, GROUPS_PER_BLOCK * contract.k, most, rng)
    graph = graph_of_groups(levels.groups[-1])
    part = partition_with(tool, graph, asked_of_tool(contract, "default", seed)).part
    part = enforce(graph, Partition(part, contract.k), contract).partition.part.copy()
    limits = limits_of(part, levels.groups[-1], contract)
    saved, _ = refine_level(levels.groups[-1], part, limits, effort, rng)
    for depth in range(len(levels.clusters) - 1, -1, -1):
        part = part[levels.clusters[depth]]
        saved += refine_level(levels.groups[depth], part, limits, effort, rng)[0]
    return part, saved


def limits_of(part: Part, groups: EdgeGroups, contract: Contract) -> Limits:
    """Return the Limits of the contract, with the current loads of the blocks."""
    return Limits(np.bincount(part, groups.work, contract.k), contract.low, contract.high)


def graph_of_groups(groups: EdgeGroups) -> Graph:
    """Return a graph with one vertex per group, in which groups that share a vertex are joined.

    The groups at a vertex form a clique if they are at most MOST_IN_CLIQUE, else a ring.
    """
    degrees, begins = np.diff(groups.offsets), groups.offsets[:-1]
    ends, weights = [], []
    for size in range(2, MOST_IN_CLIQUE + 1):
        at = begins[degrees == size]
        for i in range(size):
            for j in range(i + 1, size):
                ends.append((groups.groups[at + i], groups.groups[at + j]))
                weights.append(np.full(at.size, VERTEX_WEIGHT // (size - 1)))
    rings = degrees > MOST_IN_CLIQUE
    ends.append((groups.groups[begins[rings]], groups.groups[begins[rings] + degrees[rings] - 1]))
    owner = np.repeat(np.arange(degrees.size), degrees)
    beside = np.flatnonzero((owner[1:] == owner[:-1]) & rings[owner[1:]])
    ends.append((groups.groups[beside], groups.groups[beside + 1]))
    weights.append(np.full(beside.size + np.count_nonzero(rings), VERTEX_WEIGHT // 2))
    tails = np.concatenate([tail for tail, _ in ends])
    heads = np.concatenate([head for _, head in ends])
    return _joined_graph(groups, tails, heads, np.concatenate(weights))


def _joined_graph(
    groups: EdgeGroups, tails: Part, heads: Part, weights: npt.NDArray[np.int64]
) -> Graph:
    """Return the graph with these edges; weights of parallel edges are added."""
    n = groups.work.size
    both = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    from scipy.sparse import coo_array

    found = coo_array((np.concatenate([weights, weights]), both), shape=(n, n)).tocsr()
    found.sum_duplicates()
    work = groups.work
    whole = work.astype(np.int64) if (work == np.floor(work)).all() else work
    return Graph(found.indptr.astype(np.int64), found.indices, vwgt=whole, adjwgt=found.data)
