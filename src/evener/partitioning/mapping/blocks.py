"""Blocks onto devices: the predicted makespan first, then bytes x hops.

    all permutations of a few blocks; else
    multisection, or the mapping given -> swaps for cheap messages -> for the block done last -> ...

Two blocks may swap devices where each keeps the contract of the other's. What comes out is never
worse than what was given.
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
from evener.partitioning.mapping.cost_kernels import Scene
from evener.partitioning.mapping.costs import nearby_of, scene_of
from evener.partitioning.mapping.multisection import multisection
from evener.partitioning.mapping.search import Search, score_of
from evener.plans import metrics
from evener.plans.partition import Contract, Mapping
from evener.platforms.platform import Platform

EXACT = 8  # blocks of which all permutations are looked at
AS_SOON = 1.001  # times the least makespan found: bytes x hops count more than the difference
NO_LATER = 1 + 1e-6  # times the makespan given: nobody could measure the difference
MOST_ROUTED = 2048  # devices that links of their own join


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

    graph, partition, platform: as of `evaluate`.
    A block changes its device only for one whose contract it keeps. The predicted makespan is no
    more than before (by a millionth), and at most a thousandth above the least found; of such
    mappings, that of the fewest bytes x hops found is taken, of up to 8 blocks the best of all.
    Without links, and with links of their own among more than 2,048 devices, all stay where they
    are. Deterministic. Raises InputError where lengths differ.
    """
    graph, platform = as_graph(graph), as_platform(platform)
    partition = as_partition(partition, graph, platform.k)
    if not partition.k == platform.k == contract.k:
        raise InputError(
            f"{partition.k} blocks, {platform.k} devices and {contract.k} contracts: they differ"
        )
    stay = np.arange(platform.k)
    if not platform.has_links or (platform.connections and platform.k > MOST_ROUTED):
        platform = Platform(platform.devices)
    scene = scene_of(graph, partition, platform, contract, bytes_per_value, constraint)
    before = score_of(scene, stay)
    device = _best(scene, device_tree(platform)) if platform.has_links else stay
    return Mapping(device, before, score_of(scene, device))


def _best(scene: Scene, tree: Tree) -> IntVector:
    """Return the best mapping found, the given one where none is better."""
    given = scene.home.copy()
    least = score_of(scene, given).seconds
    if given.size <= EXACT:
        cost_kernels.best_of_all(scene, AS_SOON, least * NO_LATER, given)
        return given
    alike = _alike(scene)
    search = Search(scene, nearby_of(scene, tree, alike), alike)
    starts = [given] + ([multisection(scene, tree, alike)] if len(tree) else [])
    starts += [search.cheaper(start, aim) for start in starts for aim in search.aims]
    early = [search.sooner(start) for start in starts]
    soonest = search.soonest(min(early, key=lambda device: score_of(scene, device).seconds))
    ceiling = min(least * NO_LATER, score_of(scene, soonest).seconds * AS_SOON)
    late = [search.sooner(start, ceiling) for start in starts]
    in_time = [device for device in (*late, *early, soonest)
               if score_of(scene, device).seconds <= ceiling]  # fmt: skip
    near = [search.cheaper(device, search.aims[0], ceiling) for device in in_time]
    nearest = min(near, key=lambda device: score_of(scene, device).hop_bytes)
    best = search.nearest(nearest, ceiling)
    return best if score_of(scene, best).seconds <= ceiling else given


def _alike(scene: Scene) -> IntVector:
    """(k,) equal numbers for devices each of which takes all the blocks of the others.

    Devices in the order of their limits; those next to each other, as many as go together.
    """
    order = np.lexsort((scene.speed, scene.cap, *scene.high.T[::-1], *scene.low.T[::-1]))
    alike = np.empty(order.size, np.int64)
    number, group = -1, _Group.of(scene, int(order[0]))
    for d in order.tolist():
        wider = group.with_(_Group.of(scene, d))
        if number < 0 or not wider.takes_all():
            number, wider = number + 1, _Group.of(scene, d)
        alike[d], group = number, wider
    return alike


@dataclass(frozen=True, eq=False)
class _Group:
    """What some devices all take, and the extremes of their blocks."""

    low: FloatArray
    high: FloatArray
    cap: float
    lightest: FloatArray
    heaviest: FloatArray
    smallest: float
    largest: float

    @classmethod
    def of(cls, scene: Scene, d: int) -> _Group:
        weight, size = scene.weight[d], float(scene.size[d])
        return cls(scene.low[d], scene.high[d], float(scene.cap[d]), weight, weight, size, size)

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
