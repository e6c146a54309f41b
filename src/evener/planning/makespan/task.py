"""What is to be solved, and how every candidate is judged: by its predicted seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evener.arrays import BoolArray, FloatArray, Part
from evener.errors import InfeasibleError, InputError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.plans import metrics
from evener.plans.costs import REACH, Costs, costs_of
from evener.plans.partition import Contract, Partition
from evener.plans.plan import Prediction, Stage
from evener.plans.workload import Workload
from evener.platforms.models.fitting import SpeedModel
from evener.platforms.platform import Platform
from evener.platforms.with_curves import models_of
from evener.sizing.bounds import lower_bound
from evener.sizing.memory_capped import unit_capacities


@dataclass(frozen=True, eq=False)
class Candidate:
    """Blocks (n,), what is in them (k,), who exchanges with whom, and the seconds predicted.

    role: METIS_STAGE or CUT_STAGE for what a plan is measured against, else "".
    """

    name: str
    part: Part
    loads: FloatArray
    sizes: npt.NDArray[np.int64]
    between: metrics.Quotient
    prediction: Prediction
    role: str = ""

    @property
    def seconds(self) -> float:
        """Predicted seconds per iteration [s]."""
        return self.prediction.makespan

    @property
    def used(self) -> BoolArray:
        """(k,) devices that have anything."""
        return self.sizes > 0

    @property
    def sent(self) -> int:
        """Values sent by all devices together per iteration."""
        return int(self.between.sent.sum())

    @property
    def cut(self) -> float:
        """Weight of the edges between blocks."""
        return metrics.edge_cut(self.between)

    def stage(self, targets: FloatArray) -> Stage:
        """Return its figures as a step of a plan; targets (k,) [units]: what was aimed at."""
        volumes = metrics.comm_volumes(self.between)
        asked = targets > 0
        ratios = self.loads[asked] / targets[asked]
        return Stage(
            self.name,
            metrics.edge_cut(self.between),
            int(volumes.max()),
            int(volumes.sum()),
            int(metrics.neighbours(self.between).max()),
            float(ratios.min()),
            float(ratios.max()),
            seconds=self.seconds,
        )


@dataclass(frozen=True, eq=False)
class Task:
    """A graph to be divided over a platform so that an iteration of a workload ends early.

    low, high (k,) [units]: what the user allows each device, if it is used at all.
    """

    graph: Graph
    platform: Platform
    workload: Workload
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, graph: Graph, platform: Platform, workload: Workload) -> Task:
        """Return the task in which memory and the user's limits bind."""
        return cls(graph, platform, workload, platform.low_units, platform.high_units)

    def checked(self) -> Task:
        """Return the task, its load and costs being such that seconds can be reckoned.

        Raises InfeasibleError for no load, InputError for loads, speeds and links beyond reckoning.
        """
        _ = self.costs  # refuses what no machine has, before anything is divided by it
        if self.load <= 0:
            raise InfeasibleError("all vertices weigh nothing: there is no load to divide")
        if self.load < 1 / REACH:
            raise InputError(f"all vertices weigh {self.load:.3g} together: too little to reckon")
        return self

    @cached_property
    def weighted(self) -> Graph:
        """The graph, its vertices weighing what they are to a device."""
        graph = self.workload.weighted(self.graph)
        unit = graph.vwgt is not None and bool((graph.weights() == 1).all())
        return graph.with_(vwgt=None) if unit else graph

    @cached_property
    def work(self) -> FloatArray:
        """(n,) work of every vertex [units]."""
        return np.asarray(self.workload.work(self.graph), np.float64)

    @cached_property
    def load(self) -> float:
        """All work [units]."""
        return float(self.work.sum())

    @cached_property
    def costs(self) -> Costs:
        """Speeds and links as arrays."""
        return costs_of(self.platform, self.workload)

    @cached_property
    def models(self) -> tuple[SpeedModel, ...]:
        """(k,) speed of every device at any load."""
        return models_of(self.platform)

    @cached_property
    def bound(self) -> float:
        """Seconds that no sizes fall below [s]."""
        return lower_bound(self.graph, self.platform, self.workload).seconds

    @cached_property
    def room(self) -> FloatArray:
        """(k,) most units that memory, samples of speed and the user allow, about."""
        density = self.graph.total_bytes / self.load
        return np.minimum(unit_capacities(self.platform, density), self.high)

    @cached_property
    def most(self) -> FloatArray:
        """(k,) most units of a block, whatever bytes its vertices have."""
        return np.minimum(unit_capacities(self.platform, 0.0), self.high)

    @cached_property
    def alone(self) -> FloatArray:
        """(k,) seconds that each device would take alone, infinity without the room."""
        whole = np.full(self.platform.k, self.load)
        seconds = self.costs.compute_seconds(whole) + self.costs.fixed
        return np.where(self.room >= self.load * (1 - 1e-9), seconds, np.inf)

    def whole(self, loads: FloatArray) -> FloatArray:
        """Return loads (k,) without those of less than half a vertex, the same in sum."""
        if loads.size > self.graph.n:  # the largest, one for each vertex
            largest = np.argsort(-loads, kind="stable")[: self.graph.n]
            loads = np.where(np.isin(np.arange(loads.size), largest), loads, 0.0)
            loads *= self.load / loads.sum()
        kept = np.where(loads < 0.5 * self.load / self.graph.n, 0.0, loads)
        return np.asarray(kept * (self.load / kept.sum()))

    def loads(self, part: Part) -> FloatArray:
        """(k,) work of every block [units]."""
        return metrics.block_weights(self.weighted, Partition(part, self.platform.k))

    def judged(self, name: str, part: Part, role: str = "") -> Candidate:
        """Judge blocks as they are."""
        partition = Partition(part, self.platform.k)
        sizes = metrics.block_sizes(partition)
        alone = (sizes > 0).sum() == 1
        between = (
            metrics.silent(partition.k) if alone else metrics.quotient(self.weighted, partition)
        )
        prediction = metrics.predicted_seconds(
            self.graph, partition, self.platform, self.workload, between=between, bound=self.bound
        )
        return Candidate(name, part, self.loads(part), sizes, between, prediction, role)

    def kept(self, part: Part, connected: bool = False) -> Part:
        """Return the blocks with what limits there are enforced; devices without any stay so.

        connected: in one piece each, as far as that can be.
        Raises InfeasibleError or NotFoundError where that cannot be.
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
        """Return the contract of blocks of these loads (k,): nothing binds but the limits.

        A device without any load has a share of zero, and must have none.
        """
        used = loads > 0
        return Contract(
            loads,
            np.where(used, self.low, 0.0),
            np.where(used, np.minimum(self.most, self.load), 0.0),
            self.platform.memories,
        )
