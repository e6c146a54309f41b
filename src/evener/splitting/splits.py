"""Split: blocks of edges and how they were made; what all methods of splitting share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, Part
from evener.graphs.edge_list import EdgeList
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.requests import Request
from evener.plans.edge_partition import EdgePartition
from evener.plans.partition import Contract, Partition
from evener.splitting.split_and_connect import contracted_graph

PRESETS = ("fast", "default", "strong")


@dataclass(frozen=True)
class Split:
    """Blocks of edges, and how they were made.

    partition: keeps its contract. cut_pairs: dominant edges that were cut (spac-path, spac-ring).
    saved: copies that refinement saved. order: of the clones or of the stream, in a word; several
    joined by + were combined. notes: a sentence on each choice, and on each deviation from the
    method's paper.
    """

    partition: EdgePartition
    cut_pairs: int = 0
    saved: int = 0
    order: str = ""
    notes: tuple[str, ...] = ()


Method = Callable[[EdgeList, Contract, str, int], Split]


def work_of(edges: EdgeList) -> FloatArray:
    """(m,) float64 work of each edge [units]."""
    return np.ones(edges.m) if edges.weights is None else edges.weights.astype(np.float64)


def asked_of_tool(contract: Contract, preset: str, seed: int, clones: int = 1) -> Request:
    """Return the request to a partitioner: the limits, and a tolerance for tools that use one.

    clones: how many vertices of its graph stand for an edge, each with the edge's work.
    """
    above = contract.high / np.maximum(contract.targets, 1e-300) - 1
    return Request(
        clones * contract.targets,
        epsilon=max(float(above.min()), 0.0),
        low=clones * contract.low,
        high=clones * contract.high,
        preset=preset,
        seed=seed,
    )


def kept(
    edges: EdgeList, part: Part, contract: Contract, graph: Graph | None = None
) -> EdgePartition:
    """Return the blocks, moved as little as is needed to keep the contract.

    graph: of one vertex for each edge, whose cut moves are to spare; None: the contracted path,
    which is made only where a block is outside of its limits.
    """
    found = EdgePartition(part, contract.k)
    loads = found.loads(edges)
    if (contract.low <= loads).all() and (loads <= contract.high).all():
        return found
    graph = contracted_graph(edges) if graph is None else graph
    return EdgePartition(
        enforce(graph, Partition(part, contract.k), contract).partition.part, contract.k
    )
