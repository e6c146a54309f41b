"""GraphLevel: a graph as kernels take it; how it is shrunk, once and to a hierarchy of levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evener.arrays import NO_VERTICES, FloatArray, IntArray, IntVector, NumberArray, Part, flags_of
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.partitioning.levels import coarsening_kernels as kernels
from evener.partitioning.levels.csr_kernels import CSRGraph
from evener.threads import in_slices, slice_ends, slices_for

Unsigned = npt.NDArray[np.uint32]

MAX_ENTRIES = 2**32 - 1  # of the adjacency: they are numbered by uint32
LARGEST_CLUSTER = 1 / 8  # of the smallest block's target: blocks are made of several clusters
# Share of all targets: so much of the smallest blocks together is left out of that rule, or one
# tiny block would keep the graph from shrinking. Those blocks are made on the finest levels.
TINY_BLOCKS = 0.01
LEAST_SHRINKAGE = 0.95  # a step that leaves more of the vertices than this is the last


@dataclass(eq=False)
class GraphLevel:
    """xadj (n + 1,), adjncy (e,) uint32; adjwgt (e,) int32, empty: all 1; vwgt (n,) float64.

    fixed: the vertices that keep the block they are given, in ascending order; others are free.
    """

    xadj: Unsigned
    adjncy: Unsigned
    adjwgt: npt.NDArray[np.int32]
    vwgt: FloatArray
    fixed: IntVector = field(default_factory=lambda: NO_VERTICES)

    @property
    def n(self) -> int:
        """Number of vertices."""
        return int(self.vwgt.size)

    @property
    def arrays(self) -> CSRGraph:
        """The graph as kernels take it."""
        return CSRGraph(self.xadj, self.adjncy, self.adjwgt, self.vwgt)

    @property
    def n_free(self) -> int:
        """Number of vertices that may move."""
        return self.n - self.fixed.size

    @property
    def n_whole(self) -> float:
        """How many vertices there would be if fixed ones were made of vertices like the others."""
        if self.fixed.size == 0 or self.n_free == 0:
            return self.n
        mean = float(self.free_weights.sum()) / self.n_free
        return float(self.vwgt.sum()) / mean if mean > 0 else self.n

    @property
    def free_weights(self) -> FloatArray:
        """Weights (n,) of the vertices, 0 where they are fixed."""
        if self.fixed.size == 0:
            return self.vwgt
        weights = self.vwgt.copy()
        weights[self.fixed] = 0.0
        return weights

    @property
    def heaviest(self) -> float:
        """Weight of the heaviest vertex that may move, 0 where there is none."""
        return float(self.free_weights.max(initial=0.0))


@dataclass(eq=False)
class Shrunk:
    """A coarser level, the block of each of its vertices, and coarse_of (n,): where each went."""

    level: GraphLevel
    part: Part
    coarse_of: Unsigned


def finest(
    graph: Graph,
    order: IntArray,
    weights: NumberArray | None,
    adjwgt: npt.NDArray[np.int32],
    threads: int,
) -> GraphLevel:
    """Return the graph as a level, its vertices in `order` (n,).

    weights (n,) of the vertices, None where all are 1, and adjwgt (2m,) are in the graph's own
    order. Where `order` is the graph's own, its adjacency is not copied.
    """
    if graph.adjncy.size > MAX_ENTRIES:
        raise InputError(
            f"the graph has more than {MAX_ENTRIES:,} adjacency entries, too many for this "
            "partitioner"
        )
    n = graph.n
    slices = slices_for(n)
    ends = slice_ends(n, slices)
    vwgt = np.ones(n)
    if weights is not None:
        in_slices(
            lambda i: kernels.gather(weights, order, ends[i], ends[i + 1], vwgt), slices, threads
        )
    if kernels.is_own_order(order) and graph.adjncy.dtype == np.int32:
        return GraphLevel(graph.xadj.astype(np.uint32), graph.adjncy.view(np.uint32), adjwgt, vwgt)
    rank, xadj = np.empty(n, np.uint32), np.zeros(n + 1, np.uint32)
    in_slices(
        lambda i: kernels.rank_vertices(order, graph.xadj, ends[i], ends[i + 1], rank, xadj[1:]),
        slices,
        threads,
    )
    np.cumsum(xadj, dtype=np.uint32, out=xadj)
    adjncy, moved = np.empty(graph.adjncy.size, np.uint32), np.empty(adjwgt.size, np.int32)
    in_slices(
        lambda i: kernels.permute_rows(
            graph.xadj, graph.adjncy, adjwgt, order, rank, ends[i], ends[i + 1], xadj, adjncy,
            moved,
        ),
        slices,
        threads,
    )  # fmt: skip
    return GraphLevel(xadj, adjncy, moved, vwgt)


def places_of(vertices: IntVector, order: IntArray) -> IntVector:
    """Return where the vertices stand in `order` (n,), ascending."""
    if vertices.size == 0:
        return NO_VERTICES
    return np.flatnonzero(flags_of(vertices, order.size)[order])


def shrink(level: GraphLevel, part: Part, caps: FloatArray, threads: int) -> Shrunk:
    """Contract clusters of vertices of one block, of weight up to caps (k,) by block."""
    leader, numbers = _clusters(level, part, caps, threads)
    n, slices = level.n, numbers.size - 1
    ends = slice_ends(n, slices)
    clusters = _no_clusters(n, int(numbers[-1]))
    in_slices(
        lambda i: kernels.number_clusters(leader, ends[i], ends[i + 1], numbers[i], *clusters),
        slices,
        threads,
    )
    return _contract(level, part, clusters, threads)


def _clusters(
    level: GraphLevel, part: Part, caps: FloatArray, threads: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Return the first vertex of every vertex's cluster (n,), and each slice's first cluster."""
    n, slices = level.n, slices_for(level.n)
    ends = slice_ends(n, slices)
    leader, weight = np.empty(n, np.int32), np.empty(n)
    made = np.zeros(slices + 1, np.int64)

    def one(i: int) -> None:
        first, last = ends[i], ends[i + 1]
        leader[first:last], weight[first:last] = -1, level.vwgt[first:last]
        own = level.fixed[slice(*np.searchsorted(level.fixed, (first, last)))]
        leader[own], weight[own] = own, np.inf  # too heavy for anyone to join
        kernels.cluster(*level.arrays, part, caps, first, last, leader, weight)
        made[i + 1] = kernels.count_leaders(leader, first, last)

    in_slices(one, slices, threads)
    return leader, np.cumsum(made)


def contracted(
    level: GraphLevel, part: Part, leader: npt.NDArray[np.int32], threads: int
) -> Shrunk:
    """Contract given clusters; leader (n,): the first vertex of each vertex's cluster."""
    clusters = _no_clusters(level.n, kernels.count_leaders(leader, 0, level.n))
    kernels.number_clusters(leader, 0, level.n, 0, *clusters)
    return _contract(level, part, clusters, threads)


def anchored(level: GraphLevel, part: Part, threads: int) -> Shrunk:
    """Contract the fixed vertices of each block of `part` (n,) to one fixed vertex, its anchor."""
    leader = np.arange(level.n, dtype=np.int32)
    blocks, first = np.unique(part[level.fixed], return_index=True)
    leader[level.fixed] = level.fixed[first][np.searchsorted(blocks, part[level.fixed])]
    return contracted(level, part, leader, threads)


def _no_clusters(n: int, count: int) -> kernels.Clusters:
    """Return room for `count` clusters of n vertices, for number_clusters to fill."""
    return kernels.Clusters(
        np.empty(n, np.uint32), np.empty(count, np.int32), np.empty(n, np.int32)
    )


def _contract(level: GraphLevel, part: Part, clusters: kernels.Clusters, threads: int) -> Shrunk:
    count = clusters.head.size
    slices = slices_for(level.n)  # it is the finer level's rows that take time
    ends = slice_ends(count, slices)
    coarse = kernels.CoarseVertices(
        np.empty(count, np.uint32), np.empty(count), np.empty(count, np.int32)
    )
    rows: list[tuple[Unsigned, npt.NDArray[np.int32]]] = [_NOTHING] * slices

    def one(i: int) -> None:
        first, last = ends[i], ends[i + 1]
        room = kernels.entries_of(level.xadj, clusters.head, clusters.following, first, last)
        mark = np.full(count, -1, np.int64)
        found, weights = np.empty(room, np.uint32), np.empty(room, np.int32)
        used = kernels.contract(
            level.arrays, part, clusters, first, last, mark, found, weights, coarse
        )
        rows[i] = found[:used], weights[:used]

    in_slices(one, slices, threads)
    xadj = np.zeros(count + 1, np.uint32)
    np.cumsum(coarse.degree, dtype=np.uint32, out=xadj[1:])
    adjncy, adjwgt = np.empty(int(xadj[-1]), np.uint32), np.empty(int(xadj[-1]), np.int32)

    def gather(i: int) -> None:
        own = slice(int(xadj[ends[i]]), int(xadj[ends[i + 1]]))
        adjncy[own], adjwgt[own] = rows[i]
        rows[i] = _NOTHING

    in_slices(gather, slices, threads)
    fixed = np.unique(clusters.coarse_of[level.fixed]).astype(np.int64)
    coarser = GraphLevel(xadj, adjncy, adjwgt, coarse.vwgt, fixed)
    return Shrunk(coarser, coarse.part, clusters.coarse_of)


_NOTHING = (np.empty(0, np.uint32), np.empty(0, np.int32))


def projected(shrunk: Shrunk, blocks: Part, threads: int) -> Part:
    """Return the blocks (n,) of the finer level's vertices, given those of the coarser level."""
    n = shrunk.coarse_of.size
    slices, fine = slices_for(n), np.empty(n, np.int32)
    ends = slice_ends(n, slices)
    in_slices(
        lambda i: kernels.project(blocks, shrunk.coarse_of, ends[i], ends[i + 1], fine),
        slices,
        threads,
    )
    return fine


def scattered(values: Part, order: IntArray, threads: int) -> Part:
    """Return the blocks (n,) of the vertices of a graph, given those along `order`."""
    slices, placed = slices_for(order.size), np.empty(order.size, np.int32)
    ends = slice_ends(order.size, slices)
    in_slices(
        lambda i: kernels.scatter(values, order, ends[i], ends[i + 1], placed), slices, threads
    )
    return placed


@dataclass(eq=False)
class Hierarchy:
    """A graph and the ever smaller ones that it was shrunk to.

    above: the levels from the finest on, each with what it was shrunk to; coarsest: the last level;
    part (n,): the blocks of its vertices.
    """

    above: list[tuple[GraphLevel, Shrunk]]
    coarsest: GraphLevel
    part: Part

    def on_finest(self, blocks: Part, threads: int) -> Part:
        """Return the blocks (n,) of the finest level, given those of the coarsest."""
        for _, shrunk in reversed(self.above):
            blocks = projected(shrunk, blocks, threads)
        return blocks

    def down_to(self, most: int) -> Hierarchy:
        """Return the hierarchy down to the first level of `most` vertices at most."""
        for i, (level, _) in enumerate(self.above):
            if level.n <= most:
                return Hierarchy(self.above[:i], level, np.zeros(level.n, np.int32))
        return self

    def coarse_points(self, points: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return where the coarsest vertices lie (d, coarse n): weighted means of points (d, n)."""
        middles = points.astype(np.float64)
        for level, shrunk in self.above:
            # Clusters of weight 0 lie in the plain mean of their vertices.
            weight = np.maximum(level.vwgt, 1e-300)
            count, of = shrunk.level.n, shrunk.coarse_of
            mass = np.bincount(of, weight, count)
            middles = np.stack([np.bincount(of, weight * x, count) / mass for x in middles])
        return np.asarray(middles, np.float32)


def shrink_freely(
    level: GraphLevel, targets: FloatArray, per_block: int, shrink_by: float, threads: int
) -> Hierarchy:
    """Shrink until some `per_block` vertices are left for each block of `targets` (k,)."""
    enough = per_block * targets.size
    heaviest = 2 * float(level.vwgt.sum()) / enough
    caps = np.array([min(heaviest, LARGEST_CLUSTER * _smallest(targets))])
    return shrink_all(level, np.zeros(level.n, np.int32), caps, enough, shrink_by, threads)


def _smallest(targets: FloatArray) -> float:
    """Return the smallest target, tiny blocks left out."""
    ascending = np.sort(targets)
    tiny = np.cumsum(ascending) <= TINY_BLOCKS * targets.sum()
    return float(ascending[min(int(tiny.sum()), targets.size - 1)])


def shrink_inside(
    level: GraphLevel,
    part: Part,
    targets: FloatArray,
    per_block: int,
    shrink_by: float,
    threads: int,
) -> Hierarchy:
    """Shrink as shrink_freely, inside the blocks (n,) of `part`: no cluster crosses a border."""
    k = targets.size
    total = float(level.free_weights.sum())
    caps = np.minimum(total / (per_block * k), LARGEST_CLUSTER * targets)
    return shrink_all(level, part, caps, int(1.5 * per_block * k), shrink_by, threads)


def shrink_all(
    level: GraphLevel, part: Part, heaviest: FloatArray, enough: int, shrink_by: float, threads: int
) -> Hierarchy:
    """Shrink inside the blocks (n,) of `part` until `enough` vertices are left, or it ends.

    heaviest (k,), or (1,) for all blocks: the largest weight of a cluster; in one step a cluster
    also weighs at most `shrink_by` mean vertices, and two are always allowed.
    """
    total = float(level.free_weights.sum())

    def step(finer: GraphLevel, blocks: Part) -> Shrunk | None:
        # Clusters stay lighter than blocks, or the smallest blocks could not be made of them.
        if not total < heaviest.max() * finer.n_free:
            return None
        mean = total / finer.n_free
        caps = np.minimum(np.maximum(heaviest, 2 * mean), shrink_by * mean)
        return shrink(finer, blocks, caps, threads)

    return shrink_in_steps(level, part, enough, step)


def shrink_in_steps(
    level: GraphLevel, part: Part, enough: int, step: Callable[[GraphLevel, Part], Shrunk | None]
) -> Hierarchy:
    """Shrink by steps until `enough` vertices are left, or a step shrinks hardly or returns None.

    step(level, part): the coarser level, of clusters inside the blocks (n,) of `part`.
    """
    above: list[tuple[GraphLevel, Shrunk]] = []
    while level.n_free > enough:
        shrunk = step(level, part)
        if shrunk is None or shrunk.level.n_free > LEAST_SHRINKAGE * level.n_free:
            break
        above.append((level, shrunk))
        level, part = shrunk.level, shrunk.part
    return Hierarchy(above, level, part)


def subgraph(
    level: GraphLevel,
    part: Part,
    members: npt.NDArray[np.integer[Any]],
    rank: Unsigned | None = None,
) -> GraphLevel:
    """Return the graph of `members`, all vertices of one block of `part` (n,), in their order.

    rank (n,): scratch, so that many subgraphs take time linear in their own edges.
    """
    rank = np.empty(level.n, np.uint32) if rank is None else rank
    rank[members] = np.arange(members.size, dtype=np.uint32)
    room = int((level.xadj[members + 1] - level.xadj[members]).sum())
    xadj, adjncy = np.empty(members.size + 1, np.uint32), np.empty(room, np.uint32)
    adjwgt = np.empty(room if level.adjwgt.size else 0, np.int32)
    used = kernels.take_members(level.arrays, part, members, rank, xadj, adjncy, adjwgt)
    return GraphLevel(xadj, adjncy[:used], adjwgt[:used], level.vwgt[members])
