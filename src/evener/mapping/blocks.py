"""Blocks onto devices: the predicted makespan first, then bytes x hops.

    all permutations of a few blocks; else
    multisection, or the mapping given -> swaps for cheap messages -> swaps for the block done last

Two blocks may swap devices where each keeps the contract of the other's. What comes out is never
worse than what was given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evener import metrics
from evener.arrays import FloatArray
from evener.errors import InputError
from evener.graphs import Graph
from evener.mapping import exhaustive_kernels, scene_kernels
from evener.mapping import swapping_kernels as kernels
from evener.mapping.multisection import multisection
from evener.mapping.scene_kernels import Scene
from evener.mapping.scenes import nearby_of, scene_of
from evener.mapping.swapping_kernels import Nearby
from evener.partitioning.trees import Tree, device_tree
from evener.partitions import Contract, Mapping, MappingScore, Partition
from evener.platforms import Platform

IntVector = npt.NDArray[np.int64]

EXACT = 8  # blocks of which all permutations are looked at
SAME = 1e-12  # seconds that differ by less, relative, are the same
AS_SOON = 1.001  # times the least makespan found: bytes x hops count more than the difference
NO_LATER = 1 + 1e-6  # times the makespan given: nobody could measure the difference
BUDGET = 50_000_000  # messages looked at by one search
MOST_ROUTED = 2048  # devices that links of their own join


def map_blocks(
    graph: Graph,
    partition: Partition,
    platform: Platform,
    contract: Contract,
    *,
    bytes_per_value: float = metrics.BYTES_PER_VALUE,
    constraint: int = 0,
) -> Mapping:
    """Return devices for the blocks of `partition`, of which block b is now on device b.

    A block changes its device only for one whose contract it keeps. The predicted makespan is no
    more than before (by a millionth), and at most a thousandth above the least found; of such
    mappings, that of the fewest bytes x hops found is taken, of up to 8 blocks the best of all.
    Without links, and with links of their own among more than 2,048 devices, all stay where they
    are. Deterministic. Raises InputError where lengths differ.
    """
    partition.checked_for(graph.n)
    if not partition.k == platform.k == contract.k:
        raise InputError(
            f"{partition.k} blocks, {platform.k} devices and {contract.k} contracts: they differ"
        )
    stay = np.arange(platform.k)
    if not platform.has_links or (platform.connections and platform.k > MOST_ROUTED):
        platform = Platform(platform.devices)
    scene = scene_of(graph, partition, platform, contract, bytes_per_value, constraint)
    before = _score(scene, stay)
    device = _best(scene, device_tree(platform)) if platform.has_links else stay
    return Mapping(device, before, _score(scene, device))


def _best(scene: Scene, tree: Tree) -> IntVector:
    """Return the best mapping found, the given one where none is better."""
    given = scene.home.copy()
    least = _score(scene, given).seconds
    if given.size <= EXACT:
        exhaustive_kernels.best_of_all(scene, AS_SOON, least * NO_LATER, given)
        return given
    alike = _alike(scene)
    nearby = nearby_of(scene, tree, alike)
    starts = [given, *_with_cheap_messages(scene, nearby, tree, alike)]
    soonest = [_sooner(scene, nearby, start, 0.0) for start in starts]
    soonest_of_all = min(_score(scene, device).seconds for device in soonest)
    ceiling = min(least * NO_LATER, soonest_of_all * AS_SOON)
    near = [
        _nearer(scene, nearby, device, ceiling)
        for start, early in zip(starts, soonest, strict=True)
        for device in (_sooner(scene, nearby, start, ceiling), early)
        if _score(scene, device).seconds <= ceiling
    ]
    return min(near, key=lambda device: _score(scene, device).hop_bytes, default=given)


def _with_cheap_messages(
    scene: Scene, nearby: Nearby, tree: Tree, alike: IntVector
) -> list[IntVector]:
    """Return mappings with few bytes x hops, and with few seconds of all messages together."""
    starts = [scene.home] + ([multisection(scene, tree, alike)] if len(tree) else [])
    aims = [(np.zeros_like(scene.alpha), scene.hops), (scene.alpha, scene.beta)]
    found = []
    for start in starts:
        for aim in aims:
            device, at, seconds = _state(scene, start)
            kernels.lower_cost(scene, *aim, np.inf, nearby, BUDGET, device, at, seconds)
            found.append(device)
    return found


def _sooner(scene: Scene, nearby: Nearby, start: IntVector, goal: float) -> IntVector:
    """Swap for the makespan until it is at most `goal` [s], or as low as swaps bring it."""
    device, at, seconds = _state(scene, start)
    kernels.lower_makespan(scene, SAME, goal, nearby, BUDGET, device, at, seconds)
    return device


def _nearer(scene: Scene, nearby: Nearby, start: IntVector, ceiling: float) -> IntVector:
    """Swap for bytes x hops; nobody is done after `ceiling` [s]."""
    device, at, seconds = _state(scene, start)
    no_cost = np.zeros_like(scene.alpha)
    kernels.lower_cost(scene, no_cost, scene.hops, ceiling, nearby, BUDGET, device, at, seconds)
    return device if float(seconds.max()) <= ceiling else start


def _state(scene: Scene, start: IntVector) -> tuple[IntVector, IntVector, FloatArray]:
    """Return a copy of the mapping, its inverse, and the seconds of every block."""
    seconds = np.empty(start.size)
    scene_kernels.count_seconds(scene, start, seconds)
    return start.copy(), np.argsort(start), seconds


def _score(scene: Scene, device: IntVector) -> MappingScore:
    seconds = np.empty(device.size)
    hop_bytes = scene_kernels.count_seconds(scene, device, seconds)
    return MappingScore(float(seconds.max()), float(hop_bytes))


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
