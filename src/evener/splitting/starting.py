"""Starts of split-and-connect that never build its graph: by vertices, and by groups of edges.

Both divide a graph much smaller than one of all edges, by the tool that is asked; blocks of edges
follow, and are refined on copies level by level.
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

# Groups of the coarsest level per block; set by hand on power-law graphs: 40 is no better.
GROUPS_PER_BLOCK = 20
# Of the graph of groups: a vertex of up to so many groups joins each to each, of more in a ring.
MOST_IN_CLIQUE = 5
VERTEX_WEIGHT = 60  # of the edges of a vertex in that graph, in all; divisible by 1 to 5


def by_vertices(
    edges: EdgeList, contract: Contract, tool: str, seed: int, preset: str = "default"
) -> Part:
    """(m,) blocks by those of vertices, which weigh as many units as they have edges.

    An edge between two blocks goes to the lower one of a pair of an even sum, else to the higher
    one: so the vertices of one side alone are copied. Every block is within its limits.
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
    """(n,) work of each vertex's edges [units], at least a little for those of none."""
    if edges.weights is None:
        return np.maximum(edges.degrees, 1)
    ends = edges.tails, edges.heads
    return np.maximum(sum(np.bincount(end, edges.weights, edges.n) for end in ends), 1e-9)


def by_groups(
    edges: EdgeList, contract: Contract, tool: str, effort: Effort, seed: int
) -> tuple[Part, int]:
    """(m,) blocks by those of groups of edges, refined level by level; and copies saved by that."""
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
    """Return the loads of blocks and their limits."""
    return Limits(np.bincount(part, groups.work, contract.k), contract.low, contract.high)


def graph_of_groups(groups: EdgeGroups) -> Graph:
    """Return a graph of one vertex for each group; those that share a vertex are joined.

    The groups at a vertex form a clique if they are few, else a ring.
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
    """Return the graph of these edges, the weights of parallel ones added up."""
    n = groups.work.size
    both = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    from scipy.sparse import coo_array

    found = coo_array((np.concatenate([weights, weights]), both), shape=(n, n)).tocsr()
    found.sum_duplicates()
    work = groups.work
    whole = work.astype(np.int64) if (work == np.floor(work)).all() else work
    return Graph(found.indptr.astype(np.int64), found.indices, vwgt=whole, adjwgt=found.data)
