"""Divides a graph stored in slices: divides a graph of clusters, then refines borders.

    clusters inside slices -> contracted -> Evener's partitioner at rank 0 -> borders, by groups

All rows are read three times. Every process holds the graph of clusters, which has a few per cent
of the size of the whole graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evener.arrays import FloatArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.label_propagation.propagation import is_uneven
from evener.partitioning.refine import RefineOptions
from evener.partitioning.registry import partition_with
from evener.partitioning.requests import Request
from evener.plans.partition import Contract, Partition
from evener.running.comm import Comm
from evener.sliced.borders import BlockBorders, Near, block_type, near_clusters, refine_borders
from evener.sliced.borders_kernels import count_single
from evener.sliced.clusters import (
    SliceClusters,
    clusters_across,
    clusters_in_slices,
    entries_of_clusters,
    split_by_block,
)
from evener.sliced.contraction import UpperEdges, cluster_graph_of, contract, falling_of, lists_of
from evener.sliced.gathering import narrow, of_root
from evener.sliced.memory import (
    MOST_IN_CELL,
    MOST_IN_CLUSTER,
    OF_HEAVIEST,
    BorderMemory,
    BorderSizes,
    SliceSizes,
    border_memory,
    cluster_memory,
    too_little,
    vertices_in_cell,
    vertices_in_cluster,
)
from evener.sliced.rows import SlicedGraph
from evener.sliced.windows import refine_windows

HEAVIEST = 32.0  # mean vertices in a cluster at most
# Share of what limits of the smallest block leave free that a cluster may weigh, so that blocks of
# clusters can keep them.
OF_LIMITS = 0.25
LEAST_INSIDE = 0.5  # share of the edges inside slices, below which clusters are made across them
# Of what clusters may have: the mean of those across slices, whose largest are much heavier. Where
# they are no more than MANY_CELLS, half as large ones: on four Delaunay graphs of 2^20 and 2^22
# vertices in random order, on which this was chosen, 1 to 2 % less is cut then, for a tenth more
# memory; on a fifth from 0.6 % less to 1.4 % more.
ACROSS, ACROSS_OF_FEW = 0.6, 0.3
MANY_CELLS = 450_000
LEAST_CLUSTERS = 32  # for each block, on average
HOPS = 1  # from clusters at borders to the last whose vertices are taken singly
MOST_WHOLE = 1 << 22  # entries of a graph that one process divides as a whole
GROUPS = 4  # of blocks that are refined by themselves; 8 cut 2 % more of meshes of 2^22 vertices
LEAST_IN_GROUP = 6  # blocks: fewer can hardly shift the borders between them
TURNS = 3
# By preset. A second turn lowers the cut of 3-D grids by 1.7 % and takes half the time of all that
# was done before.
WINDOW_TURNS = {"fast": 1, "default": 2, "strong": 2}
# Minimum and maximum factor of the next cluster size, if the graph takes too much memory.
LARGER, MUCH_LARGER = 1.25, 2.5


@dataclass(frozen=True)
class SlicedOptions:
    """Options for the division of a graph in slices.

    preset, objective, seed: see `plan`. heaviest: upper limit of the mean number of vertices in a
    cluster. groups: minimum number of groups of blocks whose borders are refined separately; turns:
    number of times that groups are formed and refined. hops: clusters up to this many hops from a
    border cluster are also refined vertex by vertex. whole: for least seconds, and if degrees are
    uneven, one process divides a graph of at most this many entries as in memory. memory [B]: limit
    for a single process that reads a file, libraries included; larger clusters and more groups are
    used to stay within it. sizes: sizes of the file's slices; None: assume slices of equal size.
    """

    preset: str = "default"
    objective: str = "cut"
    seed: int = 7
    heaviest: float = HEAVIEST
    groups: int = GROUPS
    turns: int = TURNS
    hops: int = HOPS
    whole: int = MOST_WHOLE
    memory: float = math.inf
    sizes: SliceSizes | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether memory is bounded."""
        return math.isfinite(self.memory)

    def sizes_of(self, graph: SlicedGraph) -> SliceSizes:
        """Return the sizes of the graph's slices."""
        if self.sizes is not None:
            return self.sizes
        even = SliceSizes.even(graph.n, graph.arcs)
        return even._replace(dimension=graph.dimension, weighted=graph.edges_weigh)


class SmallGraph(NamedTuple):
    """The graph of clusters and the cluster of each vertex.

    of (n_local,) int32: the cluster of each own vertex and ghost. graph: the graph of all clusters;
    only on rank 0 it has coordinates of the clusters' centres. across: whether clusters may have
    vertices of several slices. falling: see ClusterGraph; only set if memory is limited.
    """

    of: Part
    graph: Graph
    across: bool = False
    falling: float = 1.0

    def without_centres(self) -> SmallGraph:
        """Return the same graph without the coordinates of the clusters' centres."""
        graph = self.graph
        return self._replace(
            graph=Graph.trusted(graph.xadj, graph.adjncy, graph.weights(), graph.adjwgt)
        )


class SlicedBlocks(NamedTuple):
    """The blocks of this process's vertices.

    part (n_own,) int32: the block of each own vertex. unrefined: number of blocks whose borders
    could not be refined because memory did not suffice; these borders still run between clusters.
    """

    part: Part
    unrefined: int = 0


def sliced_blocks(graph: SlicedGraph, limits: Contract, options: SlicedOptions) -> SlicedBlocks:
    """Return the blocks of this process's vertices. Collective.

    limits: limits on the blocks' weights. The result does not depend on the number of processes.
    Raises the errors of `partition_with` and `enforce`, and MemoryShortError if memory does not
    suffice.
    """
    small = small_graph_within(graph, _cluster_sizes(graph, limits, options), options)
    part = of_root(graph.comm, lambda: divided_clusters(small.graph, limits, options))
    if options.is_bounded:
        small = small.without_centres()
    return blocks_of_clusters(graph, small, part, limits, options)


class ClusterSizes(NamedTuple):
    """Sizes of clusters.

    wished: desired mean number of vertices in a cluster; cell: the same for clusters across slices;
    most: the largest mean allowed if memory does not suffice. unit [units]: mean weight of a
    vertex; k: number of blocks that will be made of the clusters; heaviest [units]: maximum weight
    of a cluster inside a slice.
    """

    wished: float
    cell: float
    most: float
    unit: float
    k: int
    heaviest: float = math.inf

    def weight(self, vertices: float) -> float:
        """Return the maximum weight [units] of a cluster with this number of vertices."""
        return max(min(vertices * self.unit, self.heaviest), 0.0)


def _cluster_sizes(graph: SlicedGraph, limits: Contract, options: SlicedOptions) -> ClusterSizes:
    """Return sizes of clusters that are small enough to make blocks within the limits."""
    most = graph.n / (LEAST_CLUSTERS * limits.k)
    unit = float(limits.targets.sum()) / graph.n
    wished = min(options.heaviest, most)
    cell = min(max(graph.n / MANY_CELLS, ACROSS_OF_FEW * wished), ACROSS * wished)
    return ClusterSizes(wished, cell, most, unit, limits.k, heaviest_cluster(limits, np.inf))


def least_clusters(shares: FloatArray, epsilon: float) -> float:
    """Return the minimum number of clusters needed to make blocks with these shares of the weight.

    epsilon: allowed imbalance of the blocks. If epsilon is zero, the result is practically
    infinite: vertices are then not clustered.
    """
    smallest = float(shares[shares > 0].min()) / float(shares.sum())
    heaviest = OF_LIMITS * 2 * epsilon * smallest
    return max(LEAST_CLUSTERS * shares.size, 1 / max(heaviest, 1e-300)) / OF_HEAVIEST


def small_graph_within(
    graph: SlicedGraph,
    clusters: ClusterSizes,
    options: SlicedOptions,
    least_inside: float = LEAST_INSIDE,
) -> SmallGraph:
    """Return the graph of clusters of the desired size, on every process. Collective.

    Clusters are larger if memory does not suffice. least_inside: see `small_graph`. Raises
    MemoryShortError if memory does not suffice for the largest clusters either.
    """
    if not options.is_bounded:
        weight = clusters.weight(clusters.wished)
        return small_graph(graph, weight, clusters.cell, least_inside=least_inside)
    sizes, vertices, cell = options.sizes_of(graph), clusters.wished, clusters.cell
    entries = entries_of_clusters(graph, clusters.weight(vertices), least_inside)
    if entries is None:
        cell = vertices_in_cell(options.memory, sizes, cell)
    else:
        vertices = vertices_in_cluster(options.memory, sizes, vertices, entries)
    most, most_in_cell = min(clusters.most, MOST_IN_CLUSTER), min(clusters.most, MOST_IN_CELL)
    while True:
        vertices, cell = min(vertices, clusters.most), min(cell, clusters.most)
        made = _clusters_made(graph, clusters.weight(vertices), cell, None, least_inside)
        needed, small = _contracted_within(graph, made, clusters.k, options)
        if small is not None:
            return small
        if (cell >= most_in_cell) if made.across else (vertices >= most):
            raise too_little("the graph of clusters needs", needed, options.memory)
        larger = min(max(needed / options.memory, LARGER), MUCH_LARGER)
        vertices, cell = min(larger * vertices, most), min(larger * cell, most_in_cell)
        del made


def _contracted_within(
    graph: SlicedGraph, made: _Made, k: int, options: SlicedOptions
) -> tuple[float, SmallGraph | None]:
    """Return the memory [B] needed to divide the graph of clusters into k blocks, and that graph.

    The graph is None if more memory is needed than options.memory. The number of its entries is
    first estimated from some of the clusters, because contracting all of them may already exceed
    the memory.
    """
    sizes = options.sizes_of(graph)
    estimated = cluster_graph_of(graph, made.clusters, k, across=made.across)
    needed = cluster_memory(sizes, estimated)
    if needed > options.memory:
        return needed, None
    small = _contracted(graph, made)
    arcs = int(small.graph.adjncy.size)
    falling = max(estimated.falling, falling_of(graph, small.graph.n, arcs))
    exact = estimated._replace(arcs=arcs, falling=falling, uneven=is_uneven(small.graph))
    needed = cluster_memory(sizes, exact)
    return needed, small._replace(falling=falling) if needed <= options.memory else None


class _Made(NamedTuple):
    """Clusters, and whether they may have vertices of several slices (`across`)."""

    clusters: SliceClusters
    across: bool


def small_graph(
    graph: SlicedGraph,
    heaviest: float,
    cell: float,
    blocks: Part | None = None,
    least_inside: float = LEAST_INSIDE,
) -> SmallGraph:
    """Return the graph of clusters, on every process. Collective.

    heaviest [units]: maximum weight of a cluster inside a slice. cell: mean number of vertices of a
    cluster across slices. blocks (n_own,) int32: no cluster has vertices of two blocks.
    least_inside: if a smaller share of the edges than this lies inside slices, clusters are made
    across slices.
    """
    return _contracted(graph, _clusters_made(graph, heaviest, cell, blocks, least_inside))


def _clusters_made(
    graph: SlicedGraph, heaviest: float, cell: float, blocks: Part | None, least_inside: float
) -> _Made:
    """Make the clusters that `small_graph` contracts."""
    clusters = clusters_in_slices(graph, heaviest, blocks)
    across = clusters.inside < least_inside * graph.arcs
    if across:
        clusters = clusters_across(graph, int(cell))
        clusters = clusters if blocks is None else split_by_block(graph, clusters, blocks)
    else:
        graph.fill(clusters.of)
    return _Made(clusters, across)


def _contracted(graph: SlicedGraph, made: _Made) -> SmallGraph:
    """Contract the clusters; return their graph, on every process."""
    clusters, across = made
    coarse = contract(graph, clusters.of, clusters.count, points=True, across=across)
    copied = broadcast_graph(graph.comm, coarse)
    return SmallGraph(clusters.of, copied if coarse is None else coarse, across)


def blocks_of_clusters(
    graph: SlicedGraph, small: SmallGraph, part: Part, limits: Contract, options: SlicedOptions
) -> SlicedBlocks:
    """Give vertices the blocks of their clusters, and refine the borders of the blocks. Collective.

    part (c,) int32: the block of each cluster. Overwrites small.of.
    """
    borders, within = _borders(graph, small, part, limits.k, options)
    effort = RefineOptions(options.preset, options.objective, options.seed)
    if within.window:
        turns = WINDOW_TURNS[options.preset]
        refine_windows(borders, limits, within.window, turns, effort)
        return SlicedBlocks(borders.all_blocks())
    refined = refine_borders(borders, limits, within, options.turns, effort)
    return SlicedBlocks(borders.all_blocks(), int((~refined).sum()) if within.groups > 1 else 0)


def _borders(
    graph: SlicedGraph, small: SmallGraph, part: Part, k: int, options: SlicedOptions
) -> tuple[BlockBorders, BorderMemory]:
    """Return the borders of the blocks, and how they will be refined."""
    groups = max(1, min(options.groups, k // LEAST_IN_GROUP))
    near = near_clusters(small.graph, part, options.hops)
    within = BorderMemory(groups)
    if options.is_bounded:
        near, within = _within_memory(graph, small, part, k, groups, options)
    borders = BlockBorders.found(graph, small.of, small.graph, part, k, near)
    if within.keep:
        borders.keep()
    return borders, within


def _within_memory(
    graph: SlicedGraph, small: SmallGraph, part: Part, k: int, groups: int, options: SlicedOptions
) -> tuple[Near, BorderMemory]:
    """Return the clusters near borders, and how to refine borders within options.memory.

    Uses fewer hops than options.hops if memory does not suffice.
    """
    sizes = options.sizes_of(graph)
    for hops in range(options.hops, -1, -1):
        near = near_clusters(small.graph, part, hops)
        singles = int(count_single(small.of, near))
        held = border_sizes(small, singles, k)
        within = border_memory(options.memory, sizes, held, k, groups, across=small.across)
        if within.window or within.groups <= max(k // LEAST_IN_GROUP, 1):
            break
    return near, within


def border_sizes(small: SmallGraph, singles: int, k: int) -> BorderSizes:
    """Return the sizes of borders of k blocks with this number of single vertices."""
    arcs = int(small.graph.adjncy.size)
    return BorderSizes(singles, small.graph.n, arcs, block_type(k).itemsize, small.falling)


def heaviest_cluster(limits: Contract, wished: float) -> float:
    """Return the maximum weight of a cluster [units] with which blocks can satisfy their limits."""
    room: FloatArray = (limits.high - limits.low)[limits.high > 0]
    room = np.minimum(room, float(limits.targets.sum()))
    return max(min(wished, OF_LIMITS * float(room.min())), 0.0)


def request_for(limits: Contract, options: SlicedOptions) -> Request:
    """Return the request to the partitioner that divides the graph of clusters."""
    return Request(
        limits.targets, seed=options.seed, objective=options.objective, preset=options.preset,
        low=limits.low, high=limits.high,
    )  # fmt: skip


def divided_clusters(coarse: Graph, limits: Contract, options: SlicedOptions) -> Part:
    """Divide the graph of clusters within the limits; return the block of each cluster."""
    part = partition_with("evener", coarse, request_for(limits, options)).part
    own = Contract(limits.targets, limits.low, limits.high)
    return enforce(coarse, Partition(part, limits.k), own).partition.part


def broadcast_graph(comm: Comm, graph: Graph | None) -> Graph:
    """Return the graph of process 0 on all processes; only process 0 has coordinates. Collective.

    The adjacency lists must be ascending and without loops.
    """
    parts = comm.bcast(None if graph is None or comm.size == 1 else _parts(graph))
    if graph is not None:
        return graph
    assert parts is not None
    counts, higher, weights, vwgt, types = parts
    starts = np.zeros(counts.size + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    edges = UpperEdges(0, starts, higher, weights.astype(types[1]))
    del parts, counts, higher, weights, starts
    listed = [edges]
    del edges
    n = vwgt.size
    xadj, adjncy, adjwgt = lists_of(listed, n)
    return Graph.trusted(xadj, adjncy, vwgt.astype(types[0]), adjwgt)


def _parts(graph: Graph) -> tuple[Any, ...]:
    """Return the graph in compact arrays, to be sent: each edge only at its lower end.

    The arrays: number of higher neighbours of each vertex, these neighbours, weights of edges and
    of vertices, and the types of both weights.
    """
    vwgt, adjwgt = graph.weights(), graph.edge_weights()
    types = vwgt.dtype.str, adjwgt.dtype.str
    own = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)
    is_upper = graph.adjncy > own
    counts = np.bincount(own[is_upper], minlength=graph.n)
    del own
    return narrow(counts), graph.adjncy[is_upper], narrow(adjwgt[is_upper]), narrow(vwgt), types
