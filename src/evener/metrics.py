"""What a partition costs: pure functions, each with its definition.

A block's communication volume is what it sends: the sum over its vertices of the number of other
blocks that hold a neighbour [HK00]_. Messages are counted between neighbouring blocks, seconds by
Hockney's model [Hoc94]_. Nothing here is shared with any partitioner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, NumberArray
from evener.curved_platforms import least_seconds, seconds_at
from evener.graphs import Graph
from evener.partitions import Partition
from evener.plans import Prediction
from evener.platforms import Platform
from evener.shared_links import shared_routes
from evener.workloads import WEIGHTS, Workload

if TYPE_CHECKING:
    from scipy.sparse import csr_array

IntVector = npt.NDArray[np.int64]
BYTES_PER_VALUE = WEIGHTS.bytes_per_value


@dataclass(frozen=True, eq=False)
class Quotient:
    """Who talks to whom: one row a block, sparse, blocks ascending.

    starts (k + 1,), other (p,): the blocks each block touches; sent (p,): how many of its
    vertices have a neighbour there; cut (p,): the weight of the edges between the two.
    boundary (k,): vertices with a neighbour in any other block.
    """

    starts: IntVector
    other: IntVector
    sent: IntVector
    cut: FloatArray
    boundary: IntVector

    @property
    def k(self) -> int:
        """Number of blocks."""
        return int(self.starts.size - 1)

    @property
    def block(self) -> IntVector:
        """(p,) the block whose row each entry stands in."""
        return np.repeat(np.arange(self.k), np.diff(self.starts))

    @property
    def received(self) -> IntVector:
        """(p,) how many vertices the other block sends to this one."""
        # Rows and columns have the same pattern, so a stable sort by column is the transpose.
        by_column = np.lexsort((self.block, self.other))
        return self.sent[by_column]

    def matrix(self, values: npt.NDArray[np.generic]) -> csr_array:
        """(k, k) sparse matrix of one value an entry."""
        from scipy.sparse import csr_array

        return csr_array((values, self.other, self.starts), shape=(self.k, self.k))


def silent(k: int) -> Quotient:
    """Return the quotient of k blocks of which none touches another."""
    none, zeros = np.empty(0, np.int64), np.zeros(k, np.int64)
    return Quotient(np.zeros(k + 1, np.int64), none, none, np.empty(0), zeros)


def quotient(graph: Graph, partition: Partition) -> Quotient:
    """Quotient graph of the blocks; O(n + m)."""
    from evener import metrics_kernels as kernels

    k = partition.k
    starts, order = np.zeros(k + 1, np.int64), np.empty(graph.n, np.int32)
    kernels.group_by_block(partition.part, starts, order)
    adjwgt = np.empty(0) if graph.adjwgt is None else np.asarray(graph.adjwgt, np.float64)
    rows = np.empty(k + 1, np.int64)
    size = min(32 * k + 1024, k * k)
    while True:
        boundary = np.zeros(k, np.int64)
        other, sent, cut = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
        needed = kernels.quotient(
            graph.xadj, graph.adjncy, adjwgt, partition.part, starts, order,
            boundary, rows, other, sent, cut,
        )  # fmt: skip
        if needed <= size:
            return Quotient(rows, other[:needed], sent[:needed], cut[:needed], boundary)
        size = needed


def edge_cut(between: Quotient) -> float:
    """Weight of the edges whose ends lie in different blocks."""
    return float(between.cut.sum() / 2)


def comm_volumes(between: Quotient) -> IntVector:
    """(k,) communication volume: pairs of a vertex of the block and another block it touches."""
    volumes = np.zeros(between.k, np.int64)
    np.add.at(volumes, between.block, between.sent)
    return volumes


def neighbours(between: Quotient) -> IntVector:
    """(k,) number of other blocks each block touches: messages it sends per exchange."""
    return np.diff(between.starts)


def block_weights(graph: Graph, partition: Partition, constraint: int = 0) -> FloatArray:
    """(k,) sum of the vertex weights of each block [units]."""
    if graph.vwgt is None:
        return block_sizes(partition).astype(np.float64)
    return summed(graph.weights(constraint), partition)


def summed(values: NumberArray, partition: Partition) -> FloatArray:
    """(k,) sum of the vertices' values (n,) of each block."""
    from evener import metrics_kernels as kernels

    total = np.zeros(partition.k)
    kernels.sum_by_block(partition.part, values, total)
    return total


def block_sizes(partition: Partition) -> IntVector:
    """(k,) number of vertices of each block."""
    from evener import metrics_kernels as kernels

    count = np.zeros(partition.k, np.int64)
    kernels.count_by_block(partition.part, count)
    return count


def block_bytes(graph: Graph, partition: Partition) -> FloatArray:
    """(k,) memory that each block's vertices and adjacency entries need [B]."""
    from evener import metrics_kernels as kernels

    entries = np.zeros(partition.k, np.int64)
    kernels.entries_by_block(partition.part, graph.xadj, entries)
    return np.asarray(
        graph.bytes_per_vertex * block_sizes(partition) + graph.bytes_per_edge * entries
    )


def block_components(graph: Graph, partition: Partition) -> IntVector:
    """(k,) number of connected pieces of each block; 1 is best, 0 means empty."""
    from evener import metrics_kernels as kernels

    count = np.zeros(partition.k, np.int64)
    leader = np.empty(graph.n, graph.adjncy.dtype)
    kernels.block_components(graph.xadj, graph.adjncy, partition.part, leader, count)
    return count


def imbalance(weights: FloatArray, targets: FloatArray) -> float:
    """Largest weight/target - 1 over the blocks; a target of zero counts only if exceeded."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(targets > 0, weights / targets, np.where(weights > 0, np.inf, 1.0))
    return float(ratio.max() - 1)


def level_bytes(between: Quotient, platform: Platform, bytes_per_value: float) -> FloatArray:
    """(levels,) bytes per iteration between devices whose deepest shared level is each [B]."""
    shared = platform.shared_level(between.block, between.other)
    weights = between.sent * float(bytes_per_value)
    depth = len(platform.levels)
    # Without levels all pairs share number 0, which is none.
    return _float(np.bincount(shared, weights=weights, minlength=depth))[:depth]


def hop_bytes(between: Quotient, platform: Platform, bytes_per_value: float) -> FloatArray:
    """(levels,) bytes x hops, a message climbing to the shared level and down again [GPM18]_."""
    depth = len(platform.levels)
    hops = 2 * (depth - np.arange(depth))
    return np.asarray(level_bytes(between, platform, bytes_per_value) * hops)


def compute_seconds(weights: FloatArray, platform: Platform) -> FloatArray:
    """(k,) time each device computes per iteration [s]: weight / speed, that at its weight."""
    if platform.has_curves:
        return seconds_at(platform, weights)
    return np.asarray(weights / platform.speeds)


def communication_seconds(
    between: Quotient, platform: Platform, bytes_per_value: float = BYTES_PER_VALUE
) -> FloatArray:
    """(k,) time each device communicates per iteration [s].

    The sum over its neighbours of alpha + beta x (bytes sent there + bytes received from there).
    """
    alpha, beta = platform.link_costs(between.block, between.other)
    n_bytes = (between.sent + between.received) * float(bytes_per_value)
    costs = alpha + beta * n_bytes
    return _float(np.bincount(between.block, weights=costs, minlength=between.k))


def contention_seconds(
    between: Quotient, platform: Platform, bytes_per_value: float = BYTES_PER_VALUE
) -> FloatArray:
    """(k,) time before which the links that each device shares with others are not through [s].

    Of the links it uses, the longest time that one takes for all bytes that pass it, both ways and
    whoever sends them. Zero where nothing is shared.
    """
    floor = np.zeros(between.k)
    if platform.has_shared:
        routes = shared_routes(platform, between.block, between.other)
        busy = routes.seconds(_float(between.sent * float(bytes_per_value)))
        np.maximum.at(floor, between.block[routes.pair], busy[routes.link])
    return floor


def boundary_weights(graph: Graph, partition: Partition, work: FloatArray) -> FloatArray:
    """(k,) work of the vertices with a neighbour in another block; work (n,) [units]."""
    from evener import metrics_kernels as kernels

    total = np.zeros(partition.k)
    kernels.sum_boundary(graph.xadj, graph.adjncy, partition.part, work, total)
    return total


def predicted_seconds(
    graph: Graph,
    partition: Partition,
    platform: Platform,
    workload: Workload = WEIGHTS,
    *,
    between: Quotient | None = None,
    constraint: int = 0,
    bound: float | None = None,
) -> Prediction:
    """Predict an iteration of `workload` with block b on device b; O(n + m).

    graph: as it was read; the workload weighs it, or its vertex weight `constraint` does. between:
    the quotient graph, and bound: seconds_bound, where known already. A device computes at its
    speed for its load, exchanges for the sum over its neighbours of alpha + beta x bytes both
    ways, though no less than its shared links take, and has its fixed cost; with overlap, exchange
    and interior work happen at once. One without work and neighbours takes no time.
    docs/prediction.md has it all.
    """
    between = between or quotient(graph, partition)
    if any(workload.shares):
        work = workload.work(graph)
        loads, outside = summed(work, partition), boundary_weights(graph, partition, work)
    elif graph.vwgt is None:
        loads = block_sizes(partition).astype(np.float64)
        outside = between.boundary.astype(np.float64)
    else:
        work = np.asarray(graph.weights(constraint), np.float64)
        loads, outside = summed(work, partition), boundary_weights(graph, partition, work)
    interior = np.clip(1 - outside / np.maximum(loads, 1e-300), 0, 1)
    return prediction_of(between, loads, interior, platform, workload, bound=bound)


def prediction_of(
    between: Quotient,
    loads: FloatArray,
    interior: FloatArray,
    platform: Platform,
    workload: Workload = WEIGHTS,
    *,
    bound: float | None = None,
) -> Prediction:
    """Predict from what blocks are: loads (k,) [units], interior (k,) the share of them at
    vertices without a neighbour elsewhere. bound [s]: where it is known already.
    """
    compute = compute_seconds(loads, platform)
    direct = communication_seconds(between, platform, workload.bytes_per_value)
    floor = contention_seconds(between, platform, workload.bytes_per_value)
    communicate = np.maximum(direct, floor)
    fixed = platform.fixed_seconds + workload.fixed_seconds
    if bound is None:
        bound = seconds_bound(float(loads.sum()), platform, workload)
    return Prediction(
        compute,
        communicate,
        bound,
        hop_bytes(between, platform, workload.bytes_per_value),
        contention=communicate - direct,
        fixed=np.where((loads > 0) | (neighbours(between) > 0), fixed, 0.0),
        overlapped=np.minimum(interior * compute, communicate) * workload.overlap,
        interior=interior,
    )


def seconds_bound(total: float, platform: Platform, workload: Workload = WEIGHTS) -> float:
    """Least possible makespan of an iteration of so much work [units], exchanging nothing [s]."""
    fixed = platform.fixed_seconds + workload.fixed_seconds
    return makespan_bound(total, platform) + (float(fixed.min()) if total > 0 else 0.0)


def makespan_bound(total_weight: float, platform: Platform) -> float:
    """Least possible makespan [s]: all work at the speed of all devices together.

    With speed curves: the time by which all of them, each doing the most it can, do all work.
    """
    if platform.has_curves:
        return least_seconds(platform, total_weight)
    return float(total_weight / platform.speeds.sum())


def _float(values: npt.NDArray[np.generic]) -> FloatArray:
    # bincount of nothing counts whole numbers, whatever its weights.
    return values.astype(np.float64, copy=False)
