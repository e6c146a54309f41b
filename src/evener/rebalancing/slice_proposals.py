"""Partitions that the rows of a distributed graph could move to; see proposals.py for the kinds.

    clusters inside slices and blocks -> contracted graph -> rank 0 moves clusters between blocks
    -> new borders, vertex by vertex -> limits satisfied exactly -> refined for seconds

No process stores more than its slices, the graph of clusters and the vertices near borders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evener.arrays import FloatArray, IntVector, Part
from evener.errors import InfeasibleError
from evener.graphs.graph import Graph
from evener.partitioning.makespan.refine_seconds import BlockLimits, refine_seconds
from evener.plans import metrics
from evener.plans.costs import MAX_PAIRED, costs_of
from evener.plans.partition import Contract, Partition
from evener.plans.recount import BlockCounts
from evener.plans.workload import Workload
from evener.platforms.platform import Platform
from evener.rebalancing.proposals import flowed, matched_devices, near_loads
from evener.running.comm import Comm
from evener.sliced.blocks import ACROSS, SlicedOptions, SmallGraph, small_graph
from evener.sliced.border_graph import BorderGraph, cluster_blocks
from evener.sliced.borders import NO_BLOCKS
from evener.sliced.counted import limits_within_memory
from evener.sliced.gathering import agreed, of_root, raised_everywhere
from evener.sliced.recounting import VertexCosts, recounted_in_slices
from evener.sliced.weighed import WeighedRows

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
    costs = VertexCosts(workload.without_work(), graph.size.vertex, graph.size.entry)
    return recounted_in_slices(graph, blocks, k, costs)


def at_root(comm: Comm, work: Callable[[], Part]) -> Part:
    """Return work() at rank 0 and NO_BLOCKS on other ranks; its exceptions are raised on all."""
    return agreed(comm, lambda: work() if comm.rank == 0 else NO_BLOCKS, named=False)
