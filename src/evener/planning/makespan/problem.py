"""MakespanProblem: a graph, a platform and a workload, and the limits on blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import FloatArray, Part
from evener.errors import InfeasibleError, InputError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.plans import metrics
from evener.plans.costs import REACH, Costs, costs_of
from evener.plans.partition import Contract, Partition
from evener.plans.workload import Workload
from evener.platforms.models.fitting import SpeedModel
from evener.platforms.platform import Platform
from evener.platforms.with_curves import models_of
from evener.sizing.bounds import lower_bound
from evener.sizing.memory_capped import unit_capacities

ROUNDING = 1e-9  # relative: a device holds the whole load if it holds all but this of it
TINY_SHARE = 0.5  # of the mean weight of a vertex: a smaller load is no block


@dataclass(frozen=True, eq=False)
class MakespanProblem:
    """A graph to be divided over a platform so that an iteration of a workload ends early.

    low, high (k,) [units]: the user's limits on the load of each device that is used at all.
    """

    graph: Graph
    platform: Platform
    workload: Workload
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, graph: Graph, platform: Platform, workload: Workload) -> MakespanProblem:
        """Return the problem with the limits that the platform states."""
        return cls(graph, platform, workload, platform.low_units, platform.high_units)

    def checked(self) -> MakespanProblem:
        """Return the problem itself, if its seconds can be computed in floating point.

        Raises InfeasibleError where there is no load, InputError for speeds, links and loads out
        of range.
        """
        _ = self.costs  # refuses speeds and links out of range before anything is divided by them
        if self.load <= 0:
            raise InfeasibleError("all vertices weigh nothing: there is no load to divide")
        if self.load < 1 / REACH:
            raise InputError(
                f"all vertices weigh {self.load:.3g} together: too little to predict a time"
            )
        return self

    @cached_property
    def weighted(self) -> Graph:
        """The graph with the workload's weights; without any where all are one."""
        graph = self.workload.weighted(self.graph)
        unit = graph.vwgt is not None and bool((graph.weights() == 1).all())
        return graph.with_(vwgt=None) if unit else graph

    @cached_property
    def work(self) -> FloatArray:
        """(n,) work of every vertex [units]."""
        return np.asarray(self.workload.work(self.graph), np.float64)

    @cached_property
    def load(self) -> float:
        """The work of all vertices [units]."""
        return float(self.work.sum())

    @cached_property
    def costs(self) -> Costs:
        """Speeds and links as arrays."""
        return costs_of(self.platform, self.workload)

    @cached_property
    def models(self) -> tuple[SpeedModel, ...]:
        """(k,) the speed model of every device."""
        return models_of(self.platform)

    @cached_property
    def lower_bound(self) -> float:
        """Seconds that no sizes fall below, as if nothing were exchanged [s]."""
        return lower_bound(self.graph, self.platform, self.workload).seconds

    @cached_property
    def room(self) -> FloatArray:
        """(k,) largest loads under memory, samples of speed and the user's limits [units].

        Estimated: bytes are spread evenly over the work.
        """
        density = self.graph.total_bytes / self.load
        return np.minimum(unit_capacities(self.platform, density), self.high)

    @cached_property
    def max_units(self) -> FloatArray:
        """(k,) largest loads whatever bytes the vertices have [units]: bytes are checked apart."""
        return np.minimum(unit_capacities(self.platform, 0.0), self.high)

    @cached_property
    def seconds_alone(self) -> FloatArray:
        """(k,) seconds of each device for the whole graph [s]; infinity without the room."""
        whole = np.full(self.platform.k, self.load)
        seconds = self.costs.compute_seconds(whole) + self.costs.fixed
        return np.where(self.room >= self.load * (1 - ROUNDING), seconds, np.inf)

    def without_tiny(self, loads: FloatArray) -> FloatArray:
        """Return loads (k,) of the same sum in which none is less than half a mean vertex.

        With more devices than vertices, the largest n loads are kept.
        """
        if loads.size > self.graph.n:
            largest = np.argsort(-loads, kind="stable")[: self.graph.n]
            loads = np.where(np.isin(np.arange(loads.size), largest), loads, 0.0)
            loads *= self.load / loads.sum()
        kept = np.where(loads < TINY_SHARE * self.load / self.graph.n, 0.0, loads)
        return np.asarray(kept * (self.load / kept.sum()))

    def loads(self, part: Part) -> FloatArray:
        """(k,) work of every block [units]."""
        return metrics.block_weights(self.weighted, Partition(part, self.platform.k))

    def within_limits(self, part: Part, connected: bool = False) -> Part:
        """Return the blocks (n,), repaired until memory and the user's limits hold.

        Devices without a block stay without. connected: each block in one piece, if possible.
        Raises InfeasibleError or NotFoundError where there are no such blocks or none are found.
        """
        k = self.platform.k
        loads, partition = self.loads(part), Partition(part, k)
        contract, sizes = self.contract(loads), metrics.block_sizes(partition)
        n_bytes = np.zeros(k)
        if np.isfinite(contract.caps).any():
            n_bytes = metrics.block_bytes(self.graph, partition)
        used = np.flatnonzero(sizes > 0)
        holds = contract.keeps(loads, sizes, n_bytes)[used].all()
        if holds and not connected:
            return part
        number = np.zeros(k, np.int32)
        number[used] = np.arange(used.size)
        own = Contract(
            contract.targets[used], contract.low[used], contract.high[used], contract.caps[used]
        )
        blocks = Partition(number[part], used.size)
        names = [self.platform.names[b] for b in used]
        repaired = enforce(self.weighted, blocks, own, connected=connected, names=names)
        return used[repaired.partition.part].astype(np.int32)

    def contract(self, loads: FloatArray) -> Contract:
        """Return the contract of blocks of these loads (k,) [units]: memory and the user's limits.

        A device without load must stay without.
        """
        used = loads > 0
        return Contract(
            loads,
            np.where(used, self.low, 0.0),
            np.where(used, np.minimum(self.max_units, self.load), 0.0),
            self.platform.memories,
        )
