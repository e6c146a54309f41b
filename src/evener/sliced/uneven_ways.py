"""Divide graphs of uneven degrees in slices, by degree or by clusters, whichever cuts less.

    clusters by labels -> contracted -> our partitioner at rank 0 -> rounds of moves and exchanges
    degrees            -> filled by falling degree                -> rounds of moves and exchanges

R-MAT graphs have no clusters: contraction removes hardly any edges. Social networks have clusters;
blocks filled by degree have 1.2 to 13 times the cut there, but take a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from evener.arrays import Part
from evener.errors import NotFoundError
from evener.graphs.graph import Graph
from evener.partitioning.label_propagation.propagation import WITHOUT_COMMUNITIES
from evener.partitioning.registry import partition_with
from evener.plans.partition import Contract
from evener.sliced import labels_kernels as kernels
from evener.sliced.blocks import SlicedOptions, heaviest_cluster, request_for
from evener.sliced.contraction import contract
from evener.sliced.degrees import SliceDegrees
from evener.sliced.labels import clusters_by_labels
from evener.sliced.memory import most_small
from evener.sliced.narrow import narrow
from evener.sliced.rows import SlicedGraph
from evener.sliced.uneven import BlockMemory, uneven_blocks

HEAVIEST = 4.0  # mean vertices in a cluster at most
# Share of the entries that a graph of clusters keeps, from which on there are hardly any clusters.
# Measured with HEAVIEST: social networks 0.3 to 0.88, R-MAT and Barabási-Albert graphs above 0.92.
WITHOUT_CLUSTERS = 0.9


def blocks_of_uneven(
    graph: SlicedGraph,
    limits: Contract,
    degrees: SliceDegrees,
    options: SlicedOptions,
    memory: BlockMemory | None = None,
) -> Part:
    """Return the blocks (n_own,) int32 of this process's vertices. Collective.

    memory: bytes that caps of `limits` apply to; None: caps are ignored. options.memory: if a graph
    of clusters needs more, blocks are filled by degree. The result does not depend on the number of
    processes. Raises NotFoundError, on all of them, if no blocks within the limits are found.
    """
    found: list[tuple[float, Part]] = []
    failed: NotFoundError | None = None
    for make in _ways(graph, limits, degrees, options, memory):
        try:
            part = make()
        except NotFoundError as error:
            failed = error
        else:
            found.append((cut_of(graph, part, limits.k), part))
    if failed is not None and not found:
        raise failed
    return min(found, key=lambda one: one[0])[1]


def _ways(
    graph: SlicedGraph,
    limits: Contract,
    degrees: SliceDegrees,
    options: SlicedOptions,
    memory: BlockMemory | None,
) -> Iterator[Callable[[], Part]]:
    """Yield the methods that may give the smallest cut: functions that return blocks (n_own,)."""

    def improved(given: Part | None) -> Part:
        return uneven_blocks(graph, limits, degrees=degrees, memory=memory, given=given)

    yield lambda: improved(None)
    clusters = None if degrees.fill_blocks else _clusters(graph, limits, options)
    if clusters is None or (clusters.are_few and degrees.skewness >= WITHOUT_COMMUNITIES):
        return
    made = clusters
    yield lambda: improved(_divided(graph, made, limits, options))


class _Clusters(NamedTuple):
    """Clusters and their graph.

    of (n_local,) int32: the cluster of each vertex and ghost. small: their graph, at rank 0.
    are_few: whether contraction left most edges, although the limits allow clusters of the desired
    weight: the graph has hardly any clusters.
    """

    of: Part
    small: Graph | None
    are_few: bool


def _clusters(graph: SlicedGraph, limits: Contract, options: SlicedOptions) -> _Clusters | None:
    """Return clusters by labels, or None if their graph exceeds the memory."""
    if most_small(options.memory, graph.n) <= 0:
        return None
    wished = HEAVIEST * float(limits.targets.sum()) / graph.n
    heaviest = heaviest_cluster(limits, wished)
    found = clusters_by_labels(graph, heaviest)
    if (1 - found.inside) * graph.arcs > most_small(options.memory, graph.n):
        return None
    small = contract(graph, found.of, found.n_clusters)
    entries = graph.comm.bcast(None if small is None else int(small.adjncy.size))
    assert entries is not None
    few = heaviest >= wished and entries > WITHOUT_CLUSTERS * graph.arcs
    return _Clusters(found.of, small, few)


def _divided(
    graph: SlicedGraph, clusters: _Clusters, limits: Contract, options: SlicedOptions
) -> Part:
    """Divide the graph of clusters; return the blocks (n_own,) of own vertices.

    Weights of blocks may slightly violate the limits, because whole clusters are assigned.
    """
    request = request_for(limits, options)
    small = clusters.small
    part = None if small is None else narrow(partition_with("evener", small, request).part)
    part = graph.comm.bcast(part)
    assert part is not None
    return part[clusters.of[: graph.n_own]].astype(np.int32)


def cut_of(graph: SlicedGraph, part: Part, k: int) -> float:
    """Return the weight of edges between blocks (n_own,), counted at both ends. Collective."""
    blocks = np.zeros(graph.n_local, np.min_scalar_type(k - 1))
    blocks[: graph.n_own] = part
    graph.fill(blocks)
    of = blocks.astype(np.int32)
    own = [kernels.weight_inside(graph.rows(i), of) for i in graph.own_slices]
    found = [one for some in graph.comm.allgather(own) for one in some]
    return float(sum(total - inside for inside, total in found))
