"""Edge partitions made from vertex partitions, in which vertices weigh their degrees.

An edge inside a block of vertices is assigned to this block. A cut edge is assigned to the block of
one of its ends, at random, or greedily to a block that contains its ends [Bourse14]_. The vertex
partition is made by METIS, or in one pass over the vertices.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import Part
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.partitioning.registry import partition_with
from evener.plans.partition import Contract
from evener.splitting import clustering_kernels as kernels
from evener.splitting import placing_kernels
from evener.splitting.splits import Split, asked_of_tool, kept, work_of
from evener.splitting.streaming import RULES, empty_blocks

# A block whose load / target is L costs L^COST_POWER, and COST_STRENGTH weighs this against cut
# edges: at L = 1, half an edge per end of an edge, as in Fennel, with which [Bourse14]_ compares.
COST_POWER, COST_STRENGTH = 1.5, 0.5


def blocks_of_vertices(edges: EdgeList, contract: Contract, seed: int) -> Part:
    """Return blocks of vertices (n,) by METIS, in which vertices weigh their degrees."""
    graph = Graph.from_edges(edges.n, edges.tails, edges.heads)
    weighted = graph.with_(vwgt=np.maximum(edges.degrees, 1))
    return partition_with("metis", weighted, asked_of_tool(contract, "default", seed)).part


def by_vertex_blocks(
    edges: EdgeList, contract: Contract, preset: str, seed: int, *, cut: str
) -> Split:
    """Return blocks of edges from a vertex partition with degrees as weights.

    cut: how cut edges are assigned, "random" or "greedy".
    """
    del preset
    if contract.k > np.count_nonzero(edges.degrees):  # some block would have no vertex
        homes = np.zeros(edges.n, np.int32)
    else:
        homes = blocks_of_vertices(edges, contract, seed)
    return Split(
        kept(edges, _placed(edges, contract, homes, cut, seed), contract), order="vertices"
    )


def by_least_cost(edges: EdgeList, contract: Contract, preset: str, seed: int) -> Split:  # noqa: ARG001
    """Return blocks from one pass that puts each vertex where its cost is least [Bourse14]_."""
    graph = Graph.from_edges(edges.n, edges.tails, edges.heads)
    homes = np.full(edges.n, -1, np.int32)
    targets = 2 * np.maximum(contract.targets, 1e-300)  # of edges' ends
    targets *= edges.m / max(edges.total_weight, 1e-300)
    kernels.place_vertices(
        graph.xadj, graph.adjncy, np.arange(edges.n), COST_STRENGTH, COST_POWER, targets, homes,
        np.zeros(contract.k),
    )  # fmt: skip
    return Split(
        kept(edges, _placed(edges, contract, homes, "greedy", seed), contract), order="vertices"
    )


def _placed(edges: EdgeList, contract: Contract, homes: Part, cut: str, seed: int) -> Part:
    """Return blocks of edges (m,) from blocks of vertices (n,); cut: see `by_vertex_blocks`."""
    ends, work, part = (edges.tails, edges.heads), work_of(edges), np.empty(edges.m, np.int32)
    if cut == "random":
        heads = np.random.default_rng(seed).random(edges.m) < 0.5
        return np.where(heads, homes[edges.heads], homes[edges.tails]).astype(np.int32)
    blocks, rule = empty_blocks(edges.n, contract), RULES["greedy"]
    kernels.place_inside(*ends, work, homes, blocks, part)
    placing_kernels.place_by_score(*ends, work, rule.by_degree, rule.balance, blocks, part)
    return part
