"""GraphLevel: a graph in the form for kernels; coarsening by one level or by many."""

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

MAX_ENTRIES = 2**32 - 1  # adjacency entries are numbered by uint32
LARGEST_CLUSTER = 1 / 8  # largest cluster, as a fraction of the smallest block's target
# The smallest blocks, with this fraction of all targets, are exempt from the rule above, as one
# tiny block would prevent coarsening. Such blocks are made on the finest levels.
TINY_BLOCKS = 0.01
LEAST_SHRINKAGE = 0.95  # coarsening ends after a step that leaves more than this of the vertices


@dataclass(eq=False)
class GraphLevel:
    """A graph of n vertices: one level of a hierarchy.

    xadj (n + 1,), adjncy (e,) uint32; adjwgt (e,) int32, empty if all are 1; vwgt (n,) float64.
    fixed: the vertices that must stay in their blocks, ascending.
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
        """The graph in the form for kernels."""
        return CSRGraph(self.xadj, self.adjncy, self.adjwgt, self.vwgt)

    @property
    def n_free(self) -> int:
        """Number of vertices that may move."""
        return self.n - self.fixed.size

    @property
    def n_whole(self) -> float:
        """Estimated number of vertices before vertices were contracted to fixed ones."""
        if self.fixed.size == 0 or self.n_free == 0:
            return self.n
        mean = float(self.free_weights.sum()) / self.n_free
        return float(self.vwgt.sum()) / mean if mean > 0 else self.n

    @property
    def free_weights(self) -> FloatArray:
        """Weights (n,) of the vertices, 0 for fixed ones."""
        if self.fixed.size == 0:
            return self.vwgt
        weights = self.vwgt.copy()
        weights[self.fixed] = 0.0
        return weights

    @property
    def heaviest(self) -> float:
        """Weight of the heaviest vertex that may move, 0 if there is none."""
        return float(self.free_weights.max(initial=0.0))


@dataclass(eq=False)
class Shrunk:
    """The result of one coarsening step.

    level: the coarser level. part: the block of each of its vertices. coarse_of (n,): the coarse
    vertex of each vertex of the finer level.
    """

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
    """Return the graph as a level, with its vertices in `order` (n,).

    weights (n,), None if all are 1, and adjwgt (2m,) are in the graph's own order. If `order` is
    the graph's own order, its adjacency is not copied.
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
    """Return the positions of the vertices in `order` (n,), ascending."""
    if vertices.size == 0:
        return NO_VERTICES
    return np.flatnonzero(flags_of(vertices, order.size)[order])


def shrink(level: GraphLevel, part: Part, caps: FloatArray, threads: int) -> Shrunk:
    """Contract clusters of vertices of the same block, with weight up to the block's cap (k,)."""
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
    """Return the first vertex of each vertex's cluster (n,), and each slice's first cluster."""
    n, slices = level.n, slices_for(level.n)
    ends = slice_ends(n, slices)
    leader, weight = np.empty(n, np.int32), np.empty(n)
    made = np.zeros(slices + 1, np.int64)

    def one(i: int) -> None:
        first, last = ends[i], ends[i + 1]
        leader[first:last], weight[first:last] = -1, level.vwgt[first:last]
        own = level.fixed[slice(*np.searchsorted(level.fixed, (first, last)))]
        leader[own], weight[own] = own, np.inf  # too heavy, so no vertex joins it
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
    """Return arrays for `count` clusters of n vertices, which number_clusters fills."""
    return kernels.Clusters(
        np.empty(n, np.uint32), np.empty(count, np.int32), np.empty(n, np.int32)
    )


def _contract(level: GraphLevel, part: Part, clusters: kernels.Clusters, threads: int) -> Shrunk:
    count = clusters.head.size
    slices = slices_for(level.n)  # by the finer level, whose rows take most time
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
    """Return the blocks (n,) of the finer level's vertices, from those of the coarser level."""
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
    """Return the blocks (n,) in the graph's own order, from `values` in the order `order`."""
    slices, placed = slices_for(order.size), np.empty(order.size, np.int32)
    ends = slice_ends(order.size, slices)
    in_slices(
        lambda i: kernels.scatter(values, order, ends[i], ends[i + 1], placed), slices, threads
    )
    return placed


@dataclass(eq=False)
class Hierarchy:
    """A graph and its coarser levels.

    above: all levels except the coarsest, finest first, each with its Shrunk. coarsest: the last
    level. part (n,): the blocks of its vertices.
    """

    above: list[tuple[GraphLevel, Shrunk]]
    coarsest: GraphLevel
    part: Part

    def on_finest(self, blocks: Part, threads: int) -> Part:
        """Return the blocks (n,) of the finest level, from those of the coarsest."""
        for _, shrunk in reversed(self.above):
            blocks = projected(shrunk, blocks, threads)
        return blocks

    def down_to(self, most: int) -> Hierarchy:
        """Return the hierarchy down to the first level with at most `most` vertices."""
        for i, (level, _) in enumerate(self.above):
            if level.n <= most:
                return Hierarchy(self.above[:i], level, np.zeros(level.n, np.int32))
        return Hierarchy(self.above[:], self.coarsest, self.part)

    def coarse_points(self, points: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
        """Return the coarsest level's points (d, coarse n): weighted means of points (d, n)."""
        for level, shrunk in self.above:
            middles = np.zeros((len(points), shrunk.level.n))
            kernels.middles(points, level.vwgt, shrunk.coarse_of, middles)
            points = middles
        return np.asarray(points, np.float32)


def shrink_freely(
    level: GraphLevel, targets: FloatArray, per_block: int, shrink_by: float, threads: int
) -> Hierarchy:
    """Coarsen until about `per_block` vertices per block of `targets` (k,) are left."""
    enough = per_block * targets.size
    heaviest = 2 * float(level.vwgt.sum()) / enough
    caps = np.array([min(heaviest, LARGEST_CLUSTER * _smallest(targets))])
    return shrink_all(level, np.zeros(level.n, np.int32), caps, enough, shrink_by, threads)


def _smallest(targets: FloatArray) -> float:
    """Return the smallest target, ignoring tiny blocks."""
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
    """Like shrink_freely, but no cluster crosses a border between blocks of `part` (n,)."""
    k = targets.size
    total = float(level.free_weights.sum())
    caps = np.minimum(total / (per_block * k), LARGEST_CLUSTER * targets)
    return shrink_all(level, part, caps, int(1.5 * per_block * k), shrink_by, threads)


def shrink_all(
    level: GraphLevel, part: Part, heaviest: FloatArray, enough: int, shrink_by: float, threads: int
) -> Hierarchy:
    """Coarsen inside the blocks of `part` (n,) until at most `enough` vertices are left.

    It ends earlier if clusters cannot grow. heaviest (k,), or (1,) for all blocks: the largest
    weight of a cluster, raised to twice the mean vertex weight if less; in one step, a cluster also
    weighs at most `shrink_by` x the mean vertex weight.
    """
    total = float(level.free_weights.sum())

    def step(finer: GraphLevel, blocks: Part) -> Shrunk | None:
        # Clusters must stay lighter than blocks, so that the smallest blocks can be made of them.
        if not total < heaviest.max() * finer.n_free:
            return None
        mean = total / finer.n_free
        caps = np.minimum(np.maximum(heaviest, 2 * mean), shrink_by * mean)
        return shrink(finer, blocks, caps, threads)

    return shrink_in_steps(level, part, enough, step)


def shrink_in_steps(
    level: GraphLevel, part: Part, enough: int, step: Callable[[GraphLevel, Part], Shrunk | None]
) -> Hierarchy:
    """Coarsen by steps until at most `enough` vertices are left.

    step(level, part) returns the coarser level, of clusters inside the blocks of `part` (n,).
    Coarsening ends earlier if a step hardly reduces the vertices or returns None.
    """
    above: list[tuple[GraphLevel, Shrunk]] = []
    while level.n_free > enough:
        shrunk = step(level, part)
        if shrunk is None or shrunk.level.n_free > LEAST_SHRINKAGE * level.n_free:
            break
        above.append((level, shrunk))
        level, part = shrunk.level, shrunk.part
    return Hierarchy(above, level, part)


def overlay(part: Part, other: Part, k: int) -> Part:
    """Return a number (n,) int32 for each pair of blocks that two partitions (n,) give an item.

    k: number of blocks in each partition.
    """
    numbers: Part = np.unique(part.astype(np.int64) * k + other, return_inverse=True)[1]
    return numbers.astype(np.int32)


def subgraph(
    level: GraphLevel,
    part: Part,
    members: npt.NDArray[np.integer[Any]],
    rank: Unsigned | None = None,
) -> GraphLevel:
    """Return the subgraph of `members`, all vertices of one block of `part` (n,), in their order.

    rank (n,): work array; passing it makes the time linear in the subgraph's edges.
    """
    rank = np.empty(level.n, np.uint32) if rank is None else rank
    rank[members] = np.arange(members.size, dtype=np.uint32)
    room = int((level.xadj[members + 1] - level.xadj[members]).sum())
    xadj, adjncy = np.empty(members.size + 1, np.uint32), np.empty(room, np.uint32)
    adjwgt = np.empty(room if level.adjwgt.size else 0, np.int32)
    used = kernels.take_members(level.arrays, part, members, rank, xadj, adjncy, adjwgt)
    return GraphLevel(xadj, adjncy[:used], adjwgt[:used], level.vwgt[members])
