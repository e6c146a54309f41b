"""Partitions that data could move to, and the seconds that moving takes.

diffused   boundary vertices of best gain move between neighbouring blocks until each block has its
           ideal load; most data stays in place
refined    diffused, then refined to reduce the predicted seconds, including messages
replanned  a partition from scratch (by the caller's Replan function)
matched    replanned, with each block assigned to the device that already holds most of it, among
           devices that are fast enough
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray, IntVector, Part
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.makespan.refine_seconds import BlockLimits, refine_seconds
from evener.plans import metrics
from evener.plans.costs import MAX_PAIRED, costs_of
from evener.plans.partition import Contract, Partition
from evener.plans.plan import Plan
from evener.plans.workload import Workload
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Platform
from evener.platforms.shared_links import shared_routes

# Function that returns a partition from scratch. Its arguments are a plan, of which it uses the
# options, a graph whose weights are the work, a platform with the current speeds, and a workload,
# of which it uses the messages.
Replan = Callable[[Plan, Graph, Platform, Workload], Partition]
EPSILON = 0.01  # relative tolerance of the loads of diffused partitions
SLACK = 1.02  # a block may go to any device that computes it within SLACK x compute makespan


def slowed(platform: Platform, slowness: FloatArray) -> Platform:
    """Return the platform with the time of each device at any load multiplied by slowness (k,)."""
    pairs = zip(platform.devices, slowness.tolist(), strict=True)
    return replace(platform, devices=tuple(_slowed(device, times) for device, times in pairs))


def _slowed(device: Device, times: float) -> Device:
    curve = device.curve
    if curve is not None:
        samples = tuple(_longer(sample, times) for sample in curve.samples)
        curve = DeviceSpeeds(curve.name, samples, curve.capacity, curve.model, curve.notes)
    return replace(device, speed=device.speed / times, curve=curve)


def _longer(sample: Sample, times: float) -> Sample:
    return replace(sample, seconds=sample.seconds * times, half_width=sample.half_width * times)


def diffused(
    graph: Graph, partition: Partition, loads: FloatArray, platform: Platform
) -> Partition:
    """Return a partition near the target `loads` (k,) [units] that moves few vertices.

    Empty blocks stay empty, other blocks do not become empty, and all blocks fit the memories.
    Raises InfeasibleError if no such partition is found.
    """
    used = np.flatnonzero(metrics.block_sizes(partition))
    contract = near_loads(loads, used, float(np.max(graph.weights())), platform)
    return flowed(graph, partition, used, contract, platform.names)


def near_loads(loads: FloatArray, used: IntVector, heaviest: float, platform: Platform) -> Contract:
    """Return the Contract of the blocks `used`, with targets near `loads` (k,) [units].

    The loads of other blocks are distributed over `used` in proportion. heaviest [units]: weight of
    the heaviest vertex or cluster that can move.
    """
    own = loads[used] * (float(loads.sum()) / max(float(loads[used].sum()), 1e-300))
    low = np.maximum(np.minimum((1 - EPSILON) * own, own - heaviest), 0.0)
    high = np.maximum((1 + EPSILON) * own, own + heaviest)
    high = np.maximum(np.minimum(high, platform.high_units[used]), low)
    low = np.minimum(np.maximum(low, platform.low_units[used]), high)
    return Contract(own, low, high, platform.memories[used])


def flowed(
    graph: Graph,
    partition: Partition,
    used: IntVector,
    contract: Contract,
    names: Sequence[str],
    fixed: BoolArray | None = None,
) -> Partition:
    """Return the partition changed by few vertices so that it satisfies `contract`.

    contract: limits of the blocks `used`; all other blocks are empty. names (k,): device names.
    fixed (n,) bool: vertices that must not move. Raises the errors of `enforce`.
    """
    number = np.zeros(partition.k, np.int32)
    number[used] = np.arange(used.size)
    own = [names[b] for b in used.tolist()]
    given = Partition(number[partition.part], used.size)
    kept = enforce(graph, given, contract, names=own, fixed=fixed)
    return Partition(used.astype(np.int32)[kept.partition.part], partition.k)


def refined(
    graph: Graph, partition: Partition, platform: Platform, workload: Workload
) -> Partition | None:
    """Return the partition refined to a smaller makespan.

    Returns None if the platform has no links, or more than MAX_PAIRED devices.
    """
    if not platform.has_links or platform.k > MAX_PAIRED:
        return None
    work = np.asarray(graph.weights(), np.float64)
    low = np.minimum(platform.low_units, metrics.block_weights(graph, partition))
    limits = BlockLimits(low, platform.high_units, platform.memories)
    costs = costs_of(platform, workload)
    part, _ = refine_seconds(graph, partition.part, work, costs, limits=limits, effort="fast")
    return Partition(part, partition.k)


def matched(graph: Graph, old: Partition, new: Partition, platform: Platform) -> Partition:
    """Return `new` with blocks reassigned to devices such that the fewest bytes move.

    The assignment maximises the bytes that stay. A block may go to another device only if this
    device computes it within SLACK x compute makespan of `new` and has the memory for it.
    """
    stays = np.zeros((new.k, new.k))
    np.add.at(stays, (new.part, old.part), graph.vertex_bytes())
    loads, n_bytes = metrics.block_weights(graph, new), metrics.block_bytes(graph, new)
    return Partition(matched_devices(stays, loads, n_bytes, platform)[new.part], new.k)


def matched_devices(
    stays: FloatArray, loads: FloatArray, n_bytes: FloatArray, platform: Platform
) -> Part:
    """Return the device (k,) to which `matched` assigns each block.

    stays (k, k) [B]: bytes of block i that device j already holds, at [i, j]. loads (k,) [units],
    n_bytes (k,) [B]: of the blocks.
    """
    from scipy.optimize import linear_sum_assignment

    k = loads.size
    limit = SLACK * float(metrics.compute_seconds(loads, platform).max())
    allowed = np.eye(k, dtype=np.bool_)
    for device in range(k):
        speed = platform.devices[device].model.speed(loads)
        fits = (loads / np.asarray(speed) <= limit) & (n_bytes <= platform.memories[device])
        allowed[:, device] |= fits & (loads <= platform.high_units[device])
    worst = float(stays.sum()) + 1.0
    _, device_of = linear_sum_assignment(np.where(allowed, -stays, k * worst))
    return np.asarray(device_of, np.int32)


# Seconds of moving data: the time until the busiest device or link has transferred its bytes.


def transfer_seconds(
    platform: Platform, source: IntArray, target: IntArray, n_bytes: FloatArray
) -> float:
    """Return the seconds until all messages have arrived.

    source, target (m,): devices; n_bytes (m,) [B]. The model assumes that a device handles one
    message at a time, sent or received, and that a shared link carries its messages one after
    another.
    """
    if source.size == 0:
        return 0.0
    alpha, beta = platform.link_costs(source, target)
    each = alpha + beta * n_bytes
    busy = np.bincount(source, each, platform.k) + np.bincount(target, each, platform.k)
    seconds = float(busy.max())
    if platform.has_shared:
        routes = shared_routes(platform, source, target)
        seconds = max(seconds, float(np.max(routes.seconds(n_bytes), initial=0.0)))
    return seconds


def messages(
    old: IntArray, new: IntArray, n_bytes: FloatArray, k: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return source, target and bytes (m,) of the messages that move vertices from old to new.

    old, new (n,): blocks of the vertices. n_bytes (n,): bytes of each vertex [B].
    """
    away = np.flatnonzero(old != new)
    key = old[away].astype(np.int64) * k + new[away]
    pairs, inverse = np.unique(key, return_inverse=True)
    total: FloatArray = np.zeros(pairs.size)
    np.add.at(total, inverse, n_bytes[away])
    source, target = np.divmod(pairs, k)
    return source, target, total


def usual_per_byte(platform: Platform) -> FloatArray:
    """Return the transfer time (k,) [s/B] of each device, over its fastest link to a few others."""
    k = platform.k
    if k == 1 or not platform.has_links:
        return np.zeros(k)
    # An estimate from a few links; proposals are priced by their real messages.
    own = np.arange(k)
    others = [(own + step) % k for step in sorted({1, k - 1, k // 2} - {0})]
    return np.asarray(np.min([platform.link_costs(own, other)[1] for other in others], axis=0))
