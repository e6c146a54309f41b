"""Maps blocks onto devices for the least predicted makespan, then for the fewest bytes x hops.

    up to EXACT blocks: all permutations; else
    the given mapping, multisection -> swaps for cheap messages, the makespan, bytes x hops

Two blocks may swap devices if each satisfies the contract of the other's device. The result is
never worse than the given mapping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, IntVector
from evener.errors import InputError
from evener.graphs.graph import Graph
from evener.io.accept import (
    GraphLike,
    PartitionLike,
    PlatformLike,
    as_graph,
    as_partition,
    as_platform,
)
from evener.partitioning.initial.trees import Tree, device_tree, leaf_order
from evener.partitioning.mapping import mapping_kernels
from evener.partitioning.mapping.device_search import SwapSearch, multisection, score_of
from evener.partitioning.mapping.mapping_kernels import MappingProblem, Nearby
from evener.plans import metrics
from evener.plans.partition import RELATIVE_SLACK, Contract, Mapping, Partition
from evener.platforms.platform import Platform

CHUNK = 1 << 20  # number of device pairs routed at once, which limits the memory
DIGITS = 10  # links with costs equal to this many digits are of the same kind
ALL_PAIRS = 256  # for at most this many devices, every swap is tried
# For more devices, a block is swapped with devices near those of the HEAVY blocks with which it
# exchanges most: WINDOW devices to either side in the order of the tree's leaves, among all devices
# and among devices like its own. MAX_ROWS: number of such orders, one for all devices, and one for
# each of the most frequent kinds of devices.
WINDOW, HEAVY, MAX_ROWS = 12, 8, 64


def mapping_problem(
    graph: Graph,
    partition: Partition,
    platform: Platform,
    contract: Contract,
    bytes_per_value: float,
    constraint: int,
    *,
    of_faces: bool = False,
) -> MappingProblem:
    """Return the MappingProblem in which block b of `partition` is on device b; O(n + m)."""
    # Limits on further weights count too; seconds follow from the first weight.
    counted = [constraint, *range(1, contract.n_constraints)]
    blocks = MappedBlocks(
        metrics.quotient(graph, partition, of_faces=of_faces),
        np.stack([metrics.block_weights(graph, partition, c) for c in counted], axis=1),
        metrics.block_bytes(graph, partition),
        metrics.block_sizes(partition),
    )
    return _problem_of(blocks, platform, contract, bytes_per_value)


class MappedBlocks(NamedTuple):
    """The data of k blocks on which a mapping depends.

    between: values that blocks exchange. weights (k, c) [units], n_bytes (k,) [B], vertices (k,).
    """

    between: metrics.Quotient
    weights: FloatArray
    n_bytes: FloatArray
    vertices: IntVector


def _problem_of(
    blocks: MappedBlocks, platform: Platform, contract: Contract, bytes_per_value: float
) -> MappingProblem:
    between, weights = blocks.between, blocks.weights
    # An empty block satisfies no contract; the kernels recognise it by its size 0.
    size = np.where(blocks.vertices > 0, np.maximum(blocks.n_bytes, 1e-300), 0.0)
    slack = RELATIVE_SLACK * np.maximum(np.abs(contract.table("targets")), 1e-300)
    kind, alpha, beta, hops = _links(platform)
    return MappingProblem(
        between.starts, between.other,
        (between.sent + between.received) * float(bytes_per_value),
        weights, size, platform.speeds, contract.table("low") - slack,
        contract.table("high") + slack, contract.caps * (1 + RELATIVE_SLACK),
        platform.places, kind, alpha, beta, hops,
    )  # fmt: skip


def _links(
    platform: Platform,
) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray, FloatArray]:
    """Return the kind of link (k, k) between each two devices; and alpha, beta, hops of each kind.

    On a platform with levels, the kind is the number of levels that two devices share, so the table
    is empty.
    """
    if not platform.connections:
        depth = len(platform.levels)
        alpha, beta = (
            np.array([*(getattr(level.link, key) for level in platform.levels), 0.0])
            for key in ("alpha", "beta")
        )
        hops = np.asarray(2.0 * (depth - np.arange(depth + 1)), np.float64)
        return np.empty((0, 0), np.int32), alpha, beta, hops
    k = platform.k
    kinds: dict[tuple[float, float, float], int] = {}
    table = np.empty((k, k), np.int32)
    rows = max(CHUNK // k, 1)
    everyone = np.arange(k)
    for start in range(0, k, rows):
        own = everyone[start : start + rows]
        p, q = np.repeat(own, k), np.tile(everyone, own.size)
        costs = np.column_stack([*platform.link_costs(p, q), platform.hops(p, q)])
        costs = _rounded(costs)
        found, number = _unique_rows(costs)
        new = [kinds.setdefault(tuple(row), len(kinds)) for row in found.tolist()]
        table[own] = np.array(new, np.int32)[number].reshape(own.size, k)
    alpha, beta, hops = np.array(list(kinds)).T.copy()
    return table, alpha, beta, hops


def _unique_rows(rows: FloatArray) -> tuple[FloatArray, IntVector]:
    """Return the distinct rows, and for each row its number among these."""
    code = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values, number = np.unique(column, return_inverse=True)
        code = np.unique(code * values.size + number, return_inverse=True)[1]
    first = np.unique(code, return_index=True)[1]
    return rows[first], code


def _rounded(values: FloatArray) -> FloatArray:
    """Return the values rounded to DIGITS, so that the order of summation does not matter."""
    exponent = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    unit = 10.0 ** (exponent - DIGITS)
    return np.asarray(np.rint(values / unit) * unit)


def nearby_of(problem: MappingProblem, tree: Tree, alike: IntVector) -> Nearby:
    """Return the candidate devices for swaps; alike (k,): see SwapSearch."""
    k = alike.size
    order = leaf_order(tree)
    if k <= ALL_PAIRS:
        nothing = np.empty((0, 0), np.int64)
        return Nearby(nothing, nothing, order[:0], nothing, order[:0], k)
    position = np.empty(k, np.int64)
    position[order] = np.arange(k)
    counts = np.bincount(alike)
    common = np.argsort(-counts, kind="stable")[: MAX_ROWS - 1]
    orders, places = [order], [position]
    row_of = np.zeros(k, np.int64)
    for row, which in enumerate(common, start=1):
        own = order[alike[order] == which]
        row_of[own] = row
        orders.append(np.resize(own, k))
        places.append(np.searchsorted(position[own], position))
    length = np.array([k, *counts[common]])
    return Nearby(_heaviest(problem, k), np.array(orders), length, np.array(places), row_of, WINDOW)


def _heaviest(problem: MappingProblem, k: int) -> npt.NDArray[np.int64]:
    """Return for each block the HEAVY blocks with which it exchanges most, padded with -1."""
    row = np.repeat(np.arange(k), np.diff(problem.starts))
    by_weight = np.lexsort((problem.other, -problem.n_bytes, row))
    rank = np.arange(row.size) - problem.starts[row]
    heavy = np.full((k, HEAVY), -1, np.int64)
    shown = rank < HEAVY
    heavy[row[shown], rank[shown]] = problem.other[by_weight[shown]]
    return heavy


EXACT = 8  # up to this many blocks, all permutations (40,320) are tried
# Among mappings with at most AS_SOON x least makespan found, the fewest bytes x hops decide.
AS_SOON = 1.001
NO_LATER = 1 + 1e-6  # the makespan may exceed the initial one by this factor, too little to measure
MAX_ROUTED = 2048  # limit on devices with individual links, whose costs are stored for all pairs


def map_blocks(
    graph: GraphLike,
    partition: PartitionLike,
    platform: PlatformLike,
    contract: Contract,
    *,
    bytes_per_value: float = metrics.BYTES_PER_VALUE,
    of_faces: bool = False,
    constraint: int = 0,
) -> Mapping:
    """Return a Mapping of the blocks of `partition` to devices; block b is now on device b.

    graph, partition, platform: like the arguments of `evaluate`; of_faces: see metrics.quotient. A
    block moves only to a device whose contract it satisfies. The predicted makespan is at most a
    millionth above the present one, and at most a thousandth above the least one found. Among such
    mappings, the one with the fewest bytes x hops is returned. For up to 8 blocks, it is the best
    of all mappings. All blocks stay if the platform has no links, or if more than 2,048 devices
    have individual links. Deterministic. Raises InputError if lengths differ.
    """
    graph, platform = as_graph(graph), as_platform(platform)
    partition = as_partition(partition, graph, platform.k)
    if not partition.k == platform.k == contract.k:
        raise InputError(
            f"the numbers of blocks ({partition.k}), devices ({platform.k}) and contracts "
            f"({contract.k}) differ"
        )
    platform = _routed(platform)
    problem = mapping_problem(
        graph, partition, platform, contract, bytes_per_value, constraint, of_faces=of_faces
    )
    return _mapping(problem, platform)


def map_counted(
    blocks: MappedBlocks,
    platform: Platform,
    contract: Contract,
    *,
    bytes_per_value: float = metrics.BYTES_PER_VALUE,
) -> Mapping:
    """Like map_blocks, but from MappedBlocks instead of a graph, which no process stores."""
    platform = _routed(platform)
    return _mapping(_problem_of(blocks, platform, contract, bytes_per_value), platform)


def _routed(platform: Platform) -> Platform:
    """Return the platform, without links if there are too many to store the costs of all pairs."""
    if not platform.has_links or (platform.connections and platform.k > MAX_ROUTED):
        return Platform(platform.devices)
    return platform


def _mapping(problem: MappingProblem, platform: Platform) -> Mapping:
    stay = np.arange(platform.k)
    before = score_of(problem, stay)
    device = _best(problem, device_tree(platform)) if platform.has_links else stay
    return Mapping(device, before, score_of(problem, device))


def _best(problem: MappingProblem, tree: Tree) -> IntVector:
    """Return the best mapping found, or the given one if none is better."""
    given = np.arange(problem.size.size)
    least = score_of(problem, given).seconds
    if given.size <= EXACT:
        mapping_kernels.best_of_all(problem, AS_SOON, least * NO_LATER, given)
        return given
    alike = _alike(problem)
    search = SwapSearch(problem, nearby_of(problem, tree, alike), alike)
    starts = [given] + ([multisection(problem, tree, alike)] if len(tree) else [])
    prices = (search.in_hops, search.in_seconds)
    starts += [search.cheaper(start, price) for start in starts for price in prices]
    early = [search.sooner(start) for start in starts]
    soonest = search.soonest(min(early, key=lambda device: score_of(problem, device).seconds))
    ceiling = min(least * NO_LATER, score_of(problem, soonest).seconds * AS_SOON)
    late = [search.sooner(start, ceiling) for start in starts]
    in_time = [device for device in (*late, *early, soonest)
               if score_of(problem, device).seconds <= ceiling]  # fmt: skip
    near = [search.cheaper(device, search.in_hops, ceiling) for device in in_time]
    nearest = min(near, key=lambda device: score_of(problem, device).hop_bytes)
    best = search.nearest(nearest, ceiling)
    return best if score_of(problem, best).seconds <= ceiling else given


def _alike(problem: MappingProblem) -> IntVector:
    """Return group numbers (k,) such that a device can take the block of each device in its group.

    Devices are sorted by their limits and grouped greedily in this order.
    """
    order = np.lexsort((problem.speed, problem.cap, *problem.high.T[::-1], *problem.low.T[::-1]))
    alike = np.empty(order.size, np.int64)
    number, group = -1, _Group.of(problem, int(order[0]))
    for d in order.tolist():
        wider = group.with_(_Group.of(problem, d))
        if number < 0 or not wider.takes_all():
            number, wider = number + 1, _Group.of(problem, d)
        alike[d], group = number, wider
    return alike


@dataclass(frozen=True, eq=False)
class _Group:
    """The intersection of some devices' limits, and the extremes of their blocks."""

    low: FloatArray
    high: FloatArray
    cap: float
    lightest: FloatArray
    heaviest: FloatArray
    smallest: float
    largest: float

    @classmethod
    def of(cls, problem: MappingProblem, d: int) -> _Group:
        weight, size = problem.weight[d], float(problem.size[d])
        low, high, cap = problem.low[d], problem.high[d], float(problem.cap[d])
        return cls(low, high, cap, weight, weight, size, size)

    def with_(self, other: _Group) -> _Group:
        return _Group(
            np.maximum(self.low, other.low), np.minimum(self.high, other.high),
            min(self.cap, other.cap), np.minimum(self.lightest, other.lightest),
            np.maximum(self.heaviest, other.heaviest), min(self.smallest, other.smallest),
            max(self.largest, other.largest),
        )  # fmt: skip

    def takes_all(self) -> bool:
        within = (self.low <= self.lightest) & (self.heaviest <= self.high)
        return bool(within.all() and self.smallest > 0 and self.largest <= self.cap)
