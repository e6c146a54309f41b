"""Split: an edge partition and how it was made; and functions that all methods of splitting use."""

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
    """An edge partition, and how it was made.

    partition: satisfies its contract. cut_pairs: number of dominant edges that were cut (spac-path,
    spac-ring). saved: number of copies that refinement saved. order: a word for the order of the
    clones or of the stream, or for the kind of initial partition; words joined by + mean a
    combination. notes: a sentence on each choice, and on each deviation from the method's paper.
    """

    partition: EdgePartition
    cut_pairs: int = 0
    saved: int = 0
    order: str = ""
    notes: tuple[str, ...] = ()


Method = Callable[[EdgeList, Contract, str, int], Split]


def work_of(edges: EdgeList) -> FloatArray:
    """Return the work (m,) float64 of each edge [units]."""
    return np.ones(edges.m) if edges.weights is None else edges.weights.astype(np.float64)


def asked_of_tool(contract: Contract, preset: str, seed: int, clones: int = 1) -> Request:
    """Return the Request to a partitioner, with the contract's limits.

    It also has an epsilon that follows from the limits, for tools that take only a tolerance.
    clones: number of vertices per edge in the graph to be divided, each with the edge's work.
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
    """Return the edge partition with blocks changed as little as possible to satisfy the contract.

    graph: a graph with one vertex per edge; `enforce` avoids increasing its edge cut. None:
    contracted_graph(edges), which is built only if a block violates its limits.
    """
    found = EdgePartition(part, contract.k)
    loads = found.loads(edges)
    if (contract.low <= loads).all() and (loads <= contract.high).all():
        return found
    graph = contracted_graph(edges) if graph is None else graph
    return EdgePartition(
        enforce(graph, Partition(part, contract.k), contract).partition.part, contract.k
    )
