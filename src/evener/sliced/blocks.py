"""Blocks of a graph in slices: clusters, their graph divided, then borders vertex by vertex.

    clusters inside slices -> contracted -> our partitioner at rank 0 -> borders, group by group

Rows are read three times. The small graph is at every process, a few per cent of the whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InfeasibleError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.partition import Contract, Partition
from evener.sliced.borders import (
    BlockBorders,
    BorderEffort,
    Near,
    near_clusters,
    refine_borders,
)
from evener.sliced.borders_kernels import count_single
from evener.sliced.cells import clusters_across, split_by_block
from evener.sliced.clusters import clusters_in_slices
from evener.sliced.contraction import contract
from evener.sliced.gathering import of_root
from evener.sliced.memory import border_memory, vertices_in_cluster
from evener.sliced.narrow import told_graph
from evener.sliced.rows import SlicedGraph

HEAVIEST = 32.0  # mean vertices in a cluster at most
# Share of what limits of the smallest block leave free that a cluster may weigh, so that blocks of
# clusters can keep them.
OF_LIMITS = 0.25
LEAST_INSIDE = 0.5  # share of the edges inside slices, below which clusters are made across them
ACROSS = 0.6  # of HEAVIEST: the mean of clusters across slices, whose largest are much heavier
LEAST_CLUSTERS = 32  # for each block, on average
HOPS = 1  # from clusters at borders to the last whose vertices are taken singly
GROUPS = 4  # of blocks that are refined by themselves; 8 cut 2 % more of meshes of 2^22 vertices
LEAST_IN_GROUP = 6  # blocks: fewer can hardly shift their borders beside each other
TURNS = 3


@dataclass(frozen=True)
class SlicedOptions:
    """How a graph in slices is divided.

    preset, objective, seed: as of `plan`. heaviest: mean vertices in a cluster at most. groups:
    of blocks whose borders are refined by themselves, at least; turns: how often. hops: clusters
    so far from those at borders are taken vertex by vertex too. memory [B]: of a process that
    reads a file, libraries included: more groups keep within it.
    """

    preset: str = "default"
    objective: str = "cut"
    seed: int = 7
    heaviest: float = HEAVIEST
    groups: int = GROUPS
    turns: int = TURNS
    hops: int = HOPS
    memory: float = math.inf


class SmallGraph(NamedTuple):
    """of (n_local,) int32: the cluster of each vertex and ghost. graph: of all clusters.

    Rank 0 alone has the centres of clusters.
    """

    of: Part
    graph: Graph


def sliced_blocks(graph: SlicedGraph, limits: Contract, options: SlicedOptions) -> Part:
    """Return the blocks (n_own,) int32 of this process's vertices. All processes call.

    limits: on the blocks' weights. The same blocks for any number of processes. Raises what
    `partition_with` and `enforce` raise.
    """
    total = float(limits.targets.sum())
    wished = vertices_in_cluster(options.memory, graph.n, options.heaviest)
    wished = min(wished, graph.n / (LEAST_CLUSTERS * limits.k))
    small = small_graph(graph, wished, heaviest_cluster(limits, wished * total / graph.n))
    part = of_root(graph.comm, lambda: divided_clusters(small.graph, limits, options))
    return blocks_of_clusters(graph, small, part, limits, options)


def small_graph(
    graph: SlicedGraph,
    vertices: float,
    heaviest: float,
    blocks: Part | None = None,
    least_inside: float = LEAST_INSIDE,
) -> SmallGraph:
    """Return the graph of clusters of about so many vertices, at every process. All call.

    heaviest [units]: what a cluster inside a slice may weigh. blocks (n_own,) int32: no cluster has
    vertices of two blocks. least_inside: share of the edges inside slices, below which clusters are
    made across them.
    """
    clusters = clusters_in_slices(graph, heaviest, blocks)
    if clusters.inside < least_inside * graph.arcs:
        clusters = clusters_across(graph, int(vertices * ACROSS))
        clusters = clusters if blocks is None else split_by_block(graph, clusters, blocks)
    else:
        graph.fill(clusters.of)
    coarse = contract(graph, clusters.of, clusters.count, points=True)
    told = told_graph(graph.comm, coarse)
    return SmallGraph(clusters.of, told if coarse is None else coarse)


def blocks_of_clusters(
    graph: SlicedGraph, small: SmallGraph, part: Part, limits: Contract, options: SlicedOptions
) -> Part:
    """Return the blocks (n_own,) for those of clusters, borders refined; small.of is written over.

    part (c,) int32: the blocks of clusters. All processes call.
    """
    borders, groups = _borders(graph, small, part, limits.k, options)
    effort = BorderEffort(options.preset, options.objective, options.seed)
    # Where rows are not kept, each group of each turn is one more pass over the file.
    turns = options.turns if borders.kept is not None else 1
    refine_borders(borders, limits, groups, turns, effort)
    return borders.all_blocks()


def _borders(
    graph: SlicedGraph, small: SmallGraph, part: Part, k: int, options: SlicedOptions
) -> tuple[BlockBorders, int]:
    """Return the borders of blocks, and how many groups they are refined in."""
    groups = max(1, min(options.groups, k // LEAST_IN_GROUP))
    near, keep = near_clusters(small.graph, part, options.hops), True
    if math.isfinite(options.memory):
        near, groups, keep = _within_memory(graph, small, part, k, groups, options)
    borders = BlockBorders.found(graph, small.of, small.graph, part, k, near)
    if keep:
        borders.keep()
    return borders, groups


def _within_memory(
    graph: SlicedGraph, small: SmallGraph, part: Part, k: int, groups: int, options: SlicedOptions
) -> tuple[Near, int, bool]:
    """Return the clusters near borders, by fewer hops where memory is short, groups, and `keep`."""
    for hops in range(options.hops, -1, -1):
        near = near_clusters(small.graph, part, hops)
        singles = int(count_single(small.of, near))
        held = graph.n, small.graph.n, singles, graph.arcs
        try:
            return near, *border_memory(options.memory, *held, k, groups)
        except InfeasibleError:
            if hops == 0:
                raise
    raise AssertionError("hops are not negative")


def heaviest_cluster(limits: Contract, wished: float) -> float:
    """Return what a cluster may weigh, so that blocks of clusters can keep limits [units]."""
    room: FloatArray = (limits.high - limits.low)[limits.high > 0]
    room = np.minimum(room, float(limits.targets.sum()))
    return max(min(wished, OF_LIMITS * float(room.min())), 0.0)


def request_for(limits: Contract, options: SlicedOptions) -> Request:
    """Return what is asked of the partitioner that divides a graph of clusters."""
    return Request(
        limits.targets, seed=options.seed, objective=options.objective, preset=options.preset,
        low=limits.low, high=limits.high,
    )  # fmt: skip


def divided_clusters(coarse: Graph, limits: Contract, options: SlicedOptions) -> Part:
    """Return the blocks of the small graph's vertices, within the limits."""
    part = partition_with("evener", coarse, request_for(limits, options)).part
    own = Contract(limits.targets, limits.low, limits.high)
    return enforce(coarse, Partition(part, limits.k), own).partition.part
