"""The input of the makespan search: problem, order of the vertices, and how much is tried.

`MakespanProblem` is a graph, a platform and a workload, with the limits on blocks. `order_vertices`
puts neighbours near each other in memory, which makes all later steps faster. The ordered adjacency
lists have the layout that the partitioner itself would compute: so blocks of the ordered graph are
the same as those of the given graph, and the partitioner need not order it again. `EFFORTS` has the
effort of each preset.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray, Part
from evener.errors import InfeasibleError, InputError
from evener.graphs.graph import Graph
from evener.partitioning.enforce import enforce
from evener.partitioning.label_propagation.propagation import is_uneven
from evener.partitioning.levels.levels import finest, scattered
from evener.partitioning.multilevel.multilevel import vertex_order
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


@dataclass(frozen=True, eq=False)
class MakespanProblem:
    """A graph to be divided over a platform so that an iteration of a workload ends early.

    low, high (k,) [units]: the user's limits on the load of each device that is used at all. fixed:
    flags (n,) of vertices that must stay in their initial block; None: all may move.
    """

    graph: Graph
    platform: Platform
    workload: Workload
    low: FloatArray
    high: FloatArray
    fixed: BoolArray | None = None

    @classmethod
    def of(cls, graph: Graph, platform: Platform, workload: Workload) -> MakespanProblem:
        """Return the problem with the limits that the platform states."""
        return cls(graph, platform, workload, platform.low_units, platform.high_units)

    def checked(self) -> MakespanProblem:
        """Return the problem itself, if its seconds can be computed in floating point.

        Raises InfeasibleError if the load is zero, InputError for speeds, links and loads out of
        range.
        """
        _ = self.costs  # refuses speeds and links out of range before anything is divided by them
        if self.load <= 0:
            raise InfeasibleError("all vertices have weight zero, so there is no load to divide")
        if self.load < 1 / REACH:
            raise InputError(
                f"all vertices together weigh {self.load:.3g}, too little to predict a time"
            )
        return self

    @cached_property
    def weighted(self) -> Graph:
        """The graph with the workload's weights; without weights if all are 1."""
        graph = self.workload.weighted(self.graph)
        unit = graph.vwgt is not None and bool((graph.weights() == 1).all())
        return graph.with_(vwgt=None) if unit else graph

    @cached_property
    def work(self) -> FloatArray:
        """Work of every vertex (n,) [units]."""
        return np.asarray(self.workload.work(self.graph), np.float64)

    @cached_property
    def load(self) -> float:
        """The work of all vertices [units]."""
        return float(self.work.sum())

    @cached_property
    def costs(self) -> Costs:
        """Speeds and costs of links as arrays."""
        return costs_of(self.platform, self.workload)

    @cached_property
    def models(self) -> tuple[SpeedModel, ...]:
        """The speed model of every device (k,)."""
        return models_of(self.platform)

    @cached_property
    def lower_bound(self) -> float:
        """Lower bound on the seconds of any plan, as if nothing were exchanged [s]."""
        return lower_bound(self.graph, self.platform, self.workload).seconds

    @cached_property
    def room(self) -> FloatArray:
        """Maximum loads (k,) under memory, samples of speed and the user's limits [units].

        This is an estimate: it assumes that bytes are spread evenly over the work.
        """
        density = self.graph.total_bytes / self.load
        return np.minimum(unit_capacities(self.platform, density), self.high)

    @cached_property
    def max_units(self) -> FloatArray:
        """Maximum loads (k,) regardless of bytes [units]: bytes are checked separately."""
        return np.minimum(unit_capacities(self.platform, 0.0), self.high)

    @cached_property
    def seconds_alone(self) -> FloatArray:
        """Seconds of each device for the whole graph (k,) [s], infinity without enough memory."""
        whole = np.full(self.platform.k, self.load)
        seconds = self.costs.compute_seconds(whole) + self.costs.fixed
        return np.where(self.room >= self.load * (1 - ROUNDING), seconds, np.inf)

    def loads(self, part: Part) -> FloatArray:
        """Work of every block (k,) [units]."""
        return metrics.block_weights(self.weighted, Partition(part, self.platform.k))

    def within_limits(self, part: Part, connected: bool = False) -> Part:
        """Return the blocks (n,), repaired until memory and the user's limits hold.

        Devices without a block get none. connected: each block in one piece, if possible. Raises
        InfeasibleError or NotFoundError if no such blocks exist or are found.
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
        repaired = enforce(
            self.weighted, blocks, own, connected=connected, names=names, fixed=self.fixed
        )
        return used[repaired.partition.part].astype(np.int32)

    def contract(self, loads: FloatArray) -> Contract:
        """Return the contract of blocks of these loads (k,) [units]: memory and the user's limits.

        A device without load must get no vertices.
        """
        used = loads > 0
        return Contract(
            loads,
            np.where(used, self.low, 0.0),
            np.where(used, np.minimum(self.max_units, self.load), 0.0),
            self.platform.memories,
        )


MIN_ORDERED = 1 << 14  # vertices: a smaller graph, of about a megabyte, stays in the cache anyhow


@dataclass(frozen=True, eq=False)
class OrderedGraph:
    """A graph whose vertex v is vertex order[v] (n,) of the given graph.

    If order is None, the graph is the given graph itself.
    """

    graph: Graph
    order: IntArray | None

    def given(self, part: Part) -> Part:
        """Return blocks of the ordered graph's vertices, in the order of the given graph."""
        return part if self.order is None else scattered(part, self.order, 1)

    def ordered(self, part: Part) -> Part:
        """Return blocks of the given graph's vertices, in the order of the ordered graph."""
        return part if self.order is None else part[self.order]


def order_vertices(graph: Graph, threads: int) -> OrderedGraph:
    """Renumber the graph's vertices to reduce cache misses, if that pays.

    Three kinds of graphs are not renumbered: small graphs; graphs with weighted edges, whose
    weights would have to be moved; and graphs of uneven degrees, whose blocks are spread over
    memory in any order.
    """
    if graph.n < MIN_ORDERED or graph.adjwgt is not None or is_uneven(graph):
        return OrderedGraph(graph, None)
    order = vertex_order(graph, threads)
    level = finest(graph, order, None, np.empty(0, np.int32), threads)
    made = graph.renumbered(order, level.xadj.astype(np.int64), level.adjncy.view(np.int32))
    return OrderedGraph(made, order)


@dataclass(frozen=True)
class SearchEffort:
    """How many candidates are made, and how; more effort takes longer and finds faster plans.

    Sets of devices: slabs and blocks from scratch take those of `few_sets` with the lowest
    estimates, slabs also the set of all devices; coarse runs take up to half as many as there are
    runs (see MIN_COARSE_RUNS in search.py). The search on slices has its own numbers
    (sliced_search.py).

    smaller_sets: whether slabs are tried for subsets of the devices.
    slab_starts, slab_rounds: sets of devices that slabs are made for, and rounds of sizes for each.
    block_starts: sets of devices that blocks are made for from scratch.
    swaps: whether blocks are swapped among identical devices.
    coarse_runs: most plans made on the coarse graph.
    more_refinements: how often a candidate is refined after the first time, at most.
    by_clusters: whether clusters of vertices move, too, where exchanges cost much.
    refine_effort: a key of evener.partitioning.makespan.refine_seconds.EFFORTS.
    hopeful: sets of devices are tried if their estimate / the best seconds is at most this.
    contracted: whether the graph's vertices are clusters of a larger graph.
    """

    smaller_sets: bool
    slab_starts: int
    slab_rounds: int
    block_starts: int
    swaps: bool
    coarse_runs: int
    more_refinements: int
    by_clusters: bool
    refine_effort: str
    hopeful: float = 1.05
    contracted: bool = False


# Set by hand, 2026-11; no sweep of single values is kept. benchmarks/seconds.py has the results of
# each preset (docs/results/README.md#seconds).
EFFORTS = {
    "fast": SearchEffort(
        smaller_sets=False, slab_starts=1, slab_rounds=1, block_starts=0, swaps=False,
        coarse_runs=0, more_refinements=0, by_clusters=False, refine_effort="fast",
    ),
    "default": SearchEffort(
        smaller_sets=True, slab_starts=2, slab_rounds=2, block_starts=0, swaps=True, coarse_runs=4,
        more_refinements=2, by_clusters=True, refine_effort="default",
    ),
    "strong": SearchEffort(
        smaller_sets=True, slab_starts=4, slab_rounds=3, block_starts=1, swaps=True, coarse_runs=12,
        more_refinements=6, by_clusters=True, refine_effort="strong", hopeful=1.1,
    ),
}  # fmt: skip
