"""Count the contents of each block, and the values that blocks send each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray, IntVector, NumberArray
from evener.graphs.graph import Graph
from evener.plans.partition import Contract, Further, Partition
from evener.plans.workload import Workload

ENTRIES_AT_ONCE = 1 << 22  # adjacency entries of a pass, which bounds its memory


class BlockCounts(NamedTuple):
    """Counts of k blocks; arrays (k,) unless stated otherwise, in the blocks' order.

    weights (k, c) [units]; vertices, boundary, components, neighbours, volumes: numbers; bytes [B];
    interior: share of the first weight at vertices without a neighbour in another block. Block
    sender[i] sends values[i] to receiver[i] per iteration, by ascending sender and receiver.
    """

    weights: FloatArray
    vertices: IntVector
    bytes: FloatArray
    boundary: IntVector
    components: IntVector
    neighbours: IntVector
    volumes: IntVector
    interior: FloatArray
    sender: IntVector
    receiver: IntVector
    values: IntVector
    edge_cut: float


class _Crossing(NamedTuple):
    """Messages between blocks, and the weight of the edges cut."""

    sender: IntVector
    receiver: IntVector
    values: IntVector
    at_boundary: BoolArray
    edge_cut: float


def work_of(graph: Graph, workload: Workload, constraint: int = 0) -> FloatArray:
    """Return the work of each vertex, (n,) [units], from which seconds are predicted.

    Proportional to the bytes that its row moves, or to its flops if the workload states no bytes,
    scaled so that the sum is the graph's weight; the vertex weight `constraint` if it states
    neither.
    """
    vertex, entry = workload.bytes_per_vertex, workload.bytes_per_edge
    if not (vertex or entry):
        vertex, entry = workload.flops_per_vertex, workload.flops_per_edge
    if not (vertex or entry):
        return np.asarray(graph.weights(constraint), np.float64)
    cost = vertex + entry * np.diff(graph.xadj)
    return np.asarray(cost * (graph.weights().sum() / cost.sum()), np.float64)


def recounted_blocks(
    graph: Graph, partition: Partition, loads: NumberArray, *, of_faces: bool = False
) -> BlockCounts:
    """Return the counts of the blocks; loads (n, c) [units]: the vertices' weights. O(n + m).

    of_faces: whether values are sent for cut edges, as many as their weight.
    """
    k, part = partition.k, partition.part
    crossing = _crossing(graph, part, k, of_faces=of_faces)
    vertices = _counts(part, k)
    entries = _sums(part, np.diff(graph.xadj), k)
    weights = np.column_stack([_sums(part, one, k) for one in loads.T])
    inside = _sums(part, np.where(crossing.at_boundary, 0, loads[:, 0]), k)
    first = weights[:, 0]
    return BlockCounts(
        weights=weights,
        vertices=vertices,
        bytes=graph.bytes_per_vertex * vertices + graph.bytes_per_edge * entries,
        boundary=_counts(part[crossing.at_boundary], k),
        components=_components(graph, part, k),
        neighbours=_counts(crossing.sender, k),
        volumes=_sums(crossing.sender, crossing.values, k).astype(np.int64),
        interior=np.divide(inside, first, out=np.ones(k), where=first > 0),
        sender=crossing.sender,
        receiver=crossing.receiver,
        values=crossing.values,
        edge_cut=crossing.edge_cut,
    )


def _counts(block: IntArray, k: int) -> IntVector:
    return np.bincount(block, minlength=k).astype(np.int64, copy=False)


def _sums(block: IntArray, values: NumberArray, k: int) -> FloatArray:
    # bincount of nothing counts whole numbers, whatever its weights.
    return np.bincount(block, values, minlength=k).astype(np.float64, copy=False)


def _components(graph: Graph, part: IntArray, k: int) -> IntVector:
    from evener.plans.recount.recount_kernels import count_pieces

    pieces = np.zeros(k, np.int64)
    count_pieces(graph.xadj, graph.adjncy, part, np.empty(graph.n, np.int64), pieces)
    return pieces


def _crossing(graph: Graph, part: IntArray, k: int, *, of_faces: bool) -> _Crossing:
    """Return the messages: a vertex sends a value to each other block that holds a neighbour.

    of_faces: each cut edge sends as many values as its weight, from both ends.
    """
    at_boundary = np.zeros(graph.n, np.bool_)
    codes, counts, cut = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0.0
    for first, last in _ranges(graph.xadj):
        begin, end = graph.xadj[first], graph.xadj[last]
        own = np.repeat(part[first:last], np.diff(graph.xadj[first : last + 1]))
        other = part[graph.adjncy[begin:end]]
        crossing = np.flatnonzero(own != other)
        weight = crossing if graph.adjwgt is None else graph.adjwgt[begin:end][crossing]
        cut += crossing.size if graph.adjwgt is None else float(weight.sum())
        if of_faces:
            pair = own[crossing] * np.int64(k) + other[crossing]
            found, at = np.unique(pair, return_inverse=True)
            faces = np.ones(crossing.size) if graph.adjwgt is None else weight
            codes.append(found)
            counts.append(_sums(at, faces, found.size).astype(np.int64))
        vertex = np.searchsorted(graph.xadj, crossing + begin, side="right") - 1
        once, _ = _distinct(vertex * k + other[crossing])
        vertex, to = np.divmod(once, k)
        at_boundary[vertex] = True
        if not of_faces:
            found, times = _distinct(part[vertex] * np.int64(k) + to)
            codes.append(found)
            counts.append(times)
    pairs, which = np.unique(np.concatenate(codes), return_inverse=True)
    values = _sums(which, np.concatenate(counts), pairs.size).astype(np.int64)
    sender, receiver = np.divmod(pairs, k)
    return _Crossing(sender, receiver, values, at_boundary, cut / 2)


def _distinct(numbers: IntVector) -> tuple[IntVector, IntVector]:
    """Return the distinct numbers and how often each occurs; `numbers` is sorted in place.

    Several times as fast as np.unique.
    """
    numbers.sort()
    is_first = np.ones(numbers.size, np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    return numbers[first], np.diff(first, append=numbers.size)


def _ranges(xadj: IntArray) -> Iterator[tuple[int, int]]:
    """Yield ranges of vertices with at most ENTRIES_AT_ONCE adjacency entries, or of one vertex."""
    first, n = 0, xadj.size - 1
    while first < n:
        limit = xadj[first] + ENTRIES_AT_ONCE
        last = max(int(np.searchsorted(xadj, limit, side="right")) - 1, first + 1)
        yield first, last
        first = last


# Whether blocks keep their contract, and how far they are from their targets.

SLACK = 1e-9  # of a target, and of a memory: sums of real numbers depend on their order
TIME_SLACK = 1e-6  # of a makespan: the search sums seconds in another order


def kept(contract: Contract, blocks: BlockCounts, ends: FloatArray) -> BoolArray:
    """Return whether each block keeps low, high, memory and makespan, and is not empty, (k,).

    A block may be empty if its high is zero for every weight; any block may be if the contract
    allows unused devices. ends (k,) [s]: when each device finishes.
    """
    fits = blocks.bytes <= contract.caps * (1 + SLACK)
    to_be_empty = np.ones(contract.k, np.bool_)
    for weights, limit in zip(blocks.weights.T, _limits(contract), strict=True):
        slack = SLACK * limit.targets
        fits &= (limit.low - slack <= weights) & (weights <= limit.high + slack)
        to_be_empty &= limit.high == 0
    empty = blocks.vertices == 0
    holds = fits & (~empty | to_be_empty)
    if contract.may_be_unused:
        holds |= empty
    return np.asarray(holds & (ends <= contract.makespan * (1 + TIME_SLACK)))


def imbalance_of(contract: Contract, blocks: BlockCounts) -> float:
    """Return the largest weight / target, minus 1, over all blocks and weights.

    A target of zero counts as 0 if it is kept, as infinity if it is exceeded.
    """
    targets = np.column_stack([limit.targets for limit in _limits(contract)])
    beyond = np.where(blocks.weights > 0, np.inf, 0.0)
    with np.errstate(over="ignore"):
        np.divide(blocks.weights, targets, out=beyond, where=targets > 0)
    beyond[targets > 0] -= 1
    return float(beyond.max())


def _limits(contract: Contract) -> list[Contract | Further]:
    """Return the limits on each weight: the contract itself for the first."""
    return [contract, *contract.further]
