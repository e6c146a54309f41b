"""Maps blocks onto devices for the least predicted makespan, then for the fewest bytes x hops.

    up to EXACT blocks: all permutations; else
    multisection, or the mapping given -> swaps for the cost of messages -> for the makespan -> ...

Two blocks may swap devices where each keeps the contract of the other's device. The result is never
worse than the mapping given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evener.arrays import FloatArray, IntVector
from evener.errors import InputError
from evener.io.accept import (
    GraphLike,
    PartitionLike,
    PlatformLike,
    as_graph,
    as_partition,
    as_platform,
)
from evener.partitioning.initial.trees import Tree, device_tree
from evener.partitioning.mapping import cost_kernels
from evener.partitioning.mapping.cost_kernels import MappingProblem
from evener.partitioning.mapping.costs import mapping_problem, nearby_of
from evener.partitioning.mapping.multisection import multisection
from evener.partitioning.mapping.search import SwapSearch, score_of
from evener.plans import metrics
from evener.plans.partition import Contract, Mapping
from evener.platforms.platform import Platform

EXACT = 8  # blocks of which all 40,320 permutations are tried
# Times the least makespan found: among mappings up to there, the fewest bytes x hops decide.
AS_SOON = 1.001
NO_LATER = 1 + 1e-6  # times the makespan given: less than can be measured
MAX_ROUTED = 2048  # devices joined by links of their own: costs are kept for all pairs


def map_blocks(
    graph: GraphLike,
    partition: PartitionLike,
    platform: PlatformLike,
    contract: Contract,
    *,
    bytes_per_value: float = metrics.BYTES_PER_VALUE,
    constraint: int = 0,
) -> Mapping:
    """Return devices for the blocks of `partition`, of which block b is now on device b.

    graph, partition, platform: as of `evaluate`. A block moves only to a device whose contract it
    keeps. The predicted makespan is at most a millionth above that before, and a thousandth above
    the least found; of such mappings, the one of the fewest bytes x hops found is returned. Up to 8
    blocks that is the best of all mappings. Without links, and with links of their own among more
    than 2,048 devices, all blocks stay. Deterministic. Raises InputError where lengths differ.
    """
    graph, platform = as_graph(graph), as_platform(platform)
    partition = as_partition(partition, graph, platform.k)
    if not partition.k == platform.k == contract.k:
        raise InputError(
            f"{partition.k} blocks, {platform.k} devices and {contract.k} contracts: they differ"
        )
    stay = np.arange(platform.k)
    if not platform.has_links or (platform.connections and platform.k > MAX_ROUTED):
        platform = Platform(platform.devices)
    problem = mapping_problem(graph, partition, platform, contract, bytes_per_value, constraint)
    before = score_of(problem, stay)
    device = _best(problem, device_tree(platform)) if platform.has_links else stay
    return Mapping(device, before, score_of(problem, device))


def _best(problem: MappingProblem, tree: Tree) -> IntVector:
    """Return the best mapping found, or the given one where none is better."""
    given = problem.home.copy()
    least = score_of(problem, given).seconds
    if given.size <= EXACT:
        cost_kernels.best_of_all(problem, AS_SOON, least * NO_LATER, given)
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
    """Return equal numbers (k,) for devices each of which may take the blocks of all the others.

    Devices are sorted by their limits and grouped greedily in that order.
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
    """The limits that some devices have in common, and the extremes of their blocks."""

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
