"""Partitions that data could move to, and the seconds that moving takes.

diffused   boundary vertices with the best gain move between neighbouring blocks until each block
           has its ideal load; most data stays in place
refined    diffused, then refined to reduce the predicted seconds, including messages
replanned  a partition from scratch (by the caller's Replan function)
matched    replanned, with each block assigned to the device that already holds most of it, among
           devices that are fast enough

If the rows of the graph are distributed, no process stores more than its slices, the graph of
clusters and the vertices near borders. The steps are then:

    clusters inside slices and blocks -> contracted graph -> rank 0 moves clusters between blocks
    -> new borders, vertex by vertex -> limits satisfied exactly -> refined for seconds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray, IntVector, Part
from evener.errors import InfeasibleError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.makespan.refine_seconds import BlockLimits, refine_seconds
from evener.plans import metrics
from evener.plans.costs import MAX_PAIRED, costs_of
from evener.plans.counts import BlockCounts
from evener.plans.partition import Contract, Partition
from evener.plans.plan import Plan
from evener.plans.workload import Workload
from evener.platforms.models.samples import DeviceSpeeds, Sample
from evener.platforms.platform import Device, Platform
from evener.platforms.shared_links import shared_routes
from evener.running.comm import Comm
from evener.sizing.contracts import limits_within_memory
from evener.sliced.blocks import ACROSS, SlicedOptions, SmallGraph, small_graph
from evener.sliced.border_graph import BorderGraph, cluster_blocks
from evener.sliced.borders import NO_BLOCKS
from evener.sliced.facts import WeighedRows
from evener.sliced.gathering import agreed, of_root, raised_everywhere
from evener.sliced.recounting import recounted_in_slices

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


HEAVIEST = 32.0  # largest weight of a cluster, in mean vertices
CLUSTERS = 200  # mean number of clusters per device, unless clusters would exceed HEAVIEST
HOPS = 2  # clusters up to this distance from new borders are divided into vertices
# Fraction of each memory that is left free at first, as blocks of the same weight differ in bytes;
# and the fraction that is added to it whenever a block is still too large.
MARGIN, NEXT_MARGIN = 0.005, 0.002
TRIES = 3


class CountedBlocks(NamedTuple):
    """Blocks (n_own,) int32 of this process's vertices, and the BlockCounts of all processes."""

    blocks: Part
    counts: BlockCounts


class Shifted(NamedTuple):
    """The proposals "diffused" and "refined" of proposals.py.

    refined: None if there are no links, too many devices, or too little memory.
    """

    diffused: CountedBlocks
    refined: CountedBlocks | None


@dataclass(frozen=True, eq=False)
class RowsToShift:
    """The rows of a distributed graph, weighted by their work, and their current blocks.

    small: the graph of clusters from `clusters_inside`. platform: with the current speeds of the
    devices. workload: states the messages.
    """

    graph: WeighedRows
    given: CountedBlocks
    small: SmallGraph
    platform: Platform
    workload: Workload

    def counted(self, blocks: Part) -> CountedBlocks:
        """Return blocks (n_own,) with their counts; all processes call."""
        return CountedBlocks(blocks, counted(self.graph, blocks, self.platform.k, self.workload))

    def shifted(self, loads: FloatArray) -> Shifted:
        """Return blocks near the target `loads` (k,) [units] such that few vertices move.

        All processes call. Raises InfeasibleError on all processes if no such blocks that fit the
        memories are found.
        """
        counts, margin = self.given.counts, MARGIN
        density = counts.bytes / np.maximum(counts.weights[:, 0], 1e-300)
        for _ in range(TRIES):
            room = _Room(self, loads, density, margin)
            borders, part = room.near_borders()
            found = self.counted(borders.blocks(part, keep=True)[: self.graph.n_own])
            over = found.counts.bytes > self.platform.memories
            if not over.any():
                return Shifted(found, self._refined(borders, part, room))
            weights = np.maximum(found.counts.weights[:, 0], 1e-300)
            density = np.where(over, np.maximum(found.counts.bytes / weights, density), density)
            margin += NEXT_MARGIN
        names = [name for name, is_over in zip(self.platform.names, over, strict=True) if is_over]
        with raised_everywhere():
            raise InfeasibleError(f"found no blocks that fit the memory of {', '.join(names)}")

    def _refined(self, borders: BorderGraph, part: Part, room: _Room) -> CountedBlocks | None:
        platform = self.platform
        if not platform.has_links or platform.k > MAX_PAIRED:
            return None
        better = at_root(self.graph.comm, lambda: room.faster(borders, part))
        found = self.counted(borders.blocks(better)[: self.graph.n_own])
        return None if (found.counts.bytes > platform.memories).any() else found


@dataclass(frozen=True, eq=False)
class _Room:
    """Moves vertices until blocks have the target loads (k,) [units] and fit the memories.

    density (k,) [B/unit]: estimated bytes per weight of each block. margin: fraction of each memory
    that is left free.
    """

    rows: RowsToShift
    loads: FloatArray
    density: FloatArray
    margin: float

    def near_borders(self) -> tuple[BorderGraph, Part]:
        """Return the graph of the borders of blocks near the target loads, and its blocks.

        The blocks (b,) are those of the vertices of the border graph, at rank 0 only.
        """
        rows = self.rows
        graph, small, k = rows.graph, rows.small, rows.platform.k
        part = cluster_blocks(graph, small.of, rows.given.blocks, small.graph.n, k)
        heaviest = float(small.graph.weights().max())
        moved = of_root(graph.comm, lambda: self._flowed(small.graph, part, heaviest))
        borders = BorderGraph.read(graph, small, moved[small.of], k, SlicedOptions(hops=HOPS))

        def exact() -> Part:
            assert borders.graph is not None
            return self._flowed(borders.graph, borders.part, graph.heaviest, borders)

        return borders, at_root(graph.comm, exact)

    def faster(self, borders: BorderGraph, part: Part) -> Part:
        """Return blocks (b,) of the border graph refined to a smaller makespan; only at rank 0."""
        graph, platform = borders.graph, self.rows.platform
        assert graph is not None
        work = np.asarray(graph.weights(), np.float64)
        low = np.minimum(
            platform.low_units, metrics.block_weights(graph, Partition(part, platform.k))
        )
        with np.errstate(divide="ignore"):
            most = platform.memories * (1 - self.margin) / self.density
        limits = BlockLimits(low, np.minimum(platform.high_units, most), fixed=borders.fixed)
        costs = costs_of(platform, self.rows.workload)
        return refine_seconds(graph, part, work, costs, limits=limits, effort="fast")[0]

    def _flowed(
        self, graph: Graph, part: Part, heaviest: float, borders: BorderGraph | None = None
    ) -> Part:
        """Return blocks of a graph of clusters or vertices whose weights are near the loads."""
        platform = self.rows.platform
        used: IntVector = np.flatnonzero(self.rows.given.counts.vertices)
        contract = self._contract(used, heaviest)
        fixed = None if borders is None else borders.fixed
        given = Partition(part, platform.k)
        return flowed(graph, given, used, contract, platform.names, fixed).part

    def _contract(self, used: IntVector, heaviest: float) -> Contract:
        wanted = near_loads(self.loads, used, heaviest, self.rows.platform)
        within = limits_within_memory(wanted, self.density[used], self.margin)
        low = np.minimum(within.low, within.high)
        return replace(within, low=low, caps=np.full(used.size, np.inf))


def clusters_inside(graph: WeighedRows, blocks: Part, k: int) -> SmallGraph:
    """Return a graph of clusters such that no cluster has vertices of two of the k blocks.

    blocks (n_own,): of this process's vertices. All processes call.
    """
    vertices = min(HEAVIEST, graph.n / (CLUSTERS * k))
    return small_graph(graph, vertices * graph.total / graph.n, ACROSS * vertices, blocks)


def rematched(rows: RowsToShift, found: CountedBlocks, stays: FloatArray) -> CountedBlocks:
    """Return the same blocks, assigned to devices as by proposals.matched; all processes call.

    stays (k, k) [B]: bytes of block i that device j already holds, at [i, j].
    """
    loads = found.counts.weights[:, 0]
    device = matched_devices(stays, loads, found.counts.bytes, rows.platform)
    device = rows.graph.comm.bcast(device)
    return rows.counted(device[found.blocks])


def counted(graph: WeighedRows, blocks: Part, k: int, workload: Workload) -> BlockCounts:
    """Return the BlockCounts of k blocks (n_own,) with the weights of `graph`; all call."""
    return recounted_in_slices(graph, blocks, k, workload.without_work(), graph.size)


def at_root(comm: Comm, work: Callable[[], Part]) -> Part:
    """Return work() at rank 0 and NO_BLOCKS on other ranks; its exceptions are raised on all."""
    return agreed(comm, lambda: work() if comm.rank == 0 else NO_BLOCKS, named=False)
