"""Makes whole plans on a coarse copy of the graph, where each is cheap; continues with the best.

A vertex of the coarse graph is a cluster. Moving a cluster changes the shape, place and neighbours
of blocks, which moves of single vertices cannot: for example, a slow device with cheap messages
gets a block between those of two fast ones whose messages are expensive. Initial blocks follow the
order of the machine's devices, with several seeds, and are refined to lower the predicted seconds.
The best plans are projected to the graph, and refined on the levels between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evener.arrays import BoolArray, FloatArray, IntArray, Part
from evener.graphs.graph import Graph
from evener.partitioning.initial.bisection import recursive_bisection
from evener.partitioning.initial.bisection_kernels import breadth_first_order
from evener.partitioning.levels.clusters import leaves_shrunk
from evener.partitioning.levels.levels import GraphLevel, Shrunk, finest, projected, shrink
from evener.partitioning.makespan.gain_state import Prices
from evener.partitioning.makespan.refine_seconds import EFFORTS, MakespanEffort, faces_of, refine_by
from evener.partitioning.makespan.seconds_kernels import Bounds
from evener.planning.device_sets.set_loads import EqualFinish
from evener.planning.makespan.problem import MakespanProblem
from evener.plans import metrics
from evener.plans.partition import Partition

# Size of the coarse graph [vertices]: 60 a device, at least 6,000 and at most 12,000, at most an
# eighth of the graph; but never below 1,000, and 24 a device. Plans with other values of these, and
# of most below, 2026-11: docs/results/README.md, Seconds.
VERTICES_PER_DEVICE, MIN_VERTICES, MAX_VERTICES = 60, 6000, 12_000
MIN_SHRINKAGE = 8
FLOOR, FLOOR_PER_DEVICE = 1000, 24
MAX_CLUSTER = 1.5  # weight of a coarse vertex, over the mean weight asked for
STUCK = 0.97  # a step of coarsening that keeps more of the vertices is the last
PROBE_BLOCKS = 8  # blocks by which the values that a coarse vertex sends are counted
# Estimated ratio of what blocks of clusters send once single vertices have moved, to before.
REFINED_VALUES = 0.85
EPSILON = 0.03  # tolerance of blocks before refinement, relative
MIN_RETRY_GAIN, MAX_IDLE_RETRIES = 0.005, 3  # relative; retries without that gain before stopping
CLUSTER_IDLE_RETRIES = 8  # on a graph of clusters
EXPENSIVE = 2.0  # a device is enclosed if its cheapest message costs this many times its partner's
SETS_BEFORE_PLAIN = 2  # sets tried with enclosed devices before the first set is tried without
# Refinement may look at so many times the adjacency: on a coarse graph that is milliseconds.
COARSE_EFFORT = MakespanEffort(EFFORTS["default"].rounds, 60.0)
NO_PAIRS = np.empty((0, 2), np.int64)


@dataclass(frozen=True, eq=False)
class CoarsePlan:
    """Blocks of the coarse vertices, the target loads (k,) [units], predicted seconds [s].

    enclosed (r, 2): pairs of devices; initially the first one's block was inside the second one's.
    """

    part: Part
    aim: FloatArray
    enclosed: IntArray
    seconds: float

    @property
    def used(self) -> BoolArray:
        """Whether each device has a block (k,)."""
        return np.bincount(self.part, minlength=self.aim.size) > 0


class CoarseSearch:
    """Makes plans for sets of devices on the coarse copy of a problem's graph.

    `level`: the coarse graph. The levels between it and the graph are stored for projection.
    contracted: whether the graph consists of clusters, so that it may itself be the coarse graph.
    """

    def __init__(
        self,
        problem: MakespanProblem,
        equal_finish: EqualFinish,
        threads: int,
        *,
        contracted: bool = False,
    ) -> None:
        self.problem, self._equal_finish, self._threads = problem, equal_finish, threads
        self._min_shrinkage = 1 if contracted else MIN_SHRINKAGE
        self._idle_retries = CLUSTER_IDLE_RETRIES if contracted else MAX_IDLE_RETRIES
        n, k = problem.graph.n, problem.platform.k
        most = min(MAX_VERTICES, n // self._min_shrinkage)
        size = min(max(MIN_VERTICES, VERTICES_PER_DEVICE * k), most)
        size = max(size, FLOOR, FLOOR_PER_DEVICE * k)
        work = None if problem.weighted.vwgt is None else problem.work
        faces = faces_of(problem.graph, problem.costs)
        level = finest(problem.graph, np.arange(n), work, faces, threads)
        self._levels, self._steps = _coarsened(
            level, size, MAX_CLUSTER * problem.load / size, threads
        )
        self.level: GraphLevel = self._levels[-1]
        self._values = self._values_sent()

    def best(self, sets: list[BoolArray], runs: int, seed: int) -> list[CoarsePlan]:
        """Return up to `runs` plans of these sets (k,), the fastest first.

        Up to half of the runs try different sets, with expensive devices enclosed
        (`enclosed_pairs`), and the first set also without this; the other runs repeat the best plan
        with other seeds. Sets with too little memory for the load, and sets of one device, are
        skipped.
        """
        different = {used.tobytes(): used for used in sets if used.sum() > 1}
        aims = [one for used in different.values() if (one := self.loads(used)) is not None]
        starts = [(aim, enclosed_pairs(self.problem.costs.alpha, aim > 0)) for aim in aims]
        plain = [(aim, NO_PAIRS) for aim, pairs in starts[:1] if pairs.size]
        starts[SETS_BEFORE_PLAIN:SETS_BEFORE_PLAIN] = plain
        found: list[CoarsePlan] = []
        new, idle = min(len(starts), max(runs // 2, 1)), 0
        for run in range(runs if starts else 0):
            again = None if run < new else found[0]
            aim, pairs = (again.aim, again.enclosed) if again else starts[run]
            made = self.plan(aim, pairs, seed + run)
            better = run == 0 or made.seconds < found[0].seconds * (1 - MIN_RETRY_GAIN)
            idle = 0 if better or again is None else idle + 1
            found = sorted([*found, made], key=lambda one: one.seconds)
            if idle == self._idle_retries:
                break
        return found

    def loads(self, used: BoolArray) -> FloatArray | None:
        """Return loads (k,) [units] for which devices finish together, with one message each.

        Each device's cheapest message is counted, because none can send less than one; refinement
        accounts for the other messages better than an estimate. None if the devices' memory does
        not suffice, or there are more devices than vertices.
        """
        others = used & ~np.eye(used.size, dtype=bool)
        least = np.where(others, self.problem.costs.alpha, np.inf).min(axis=1)[None]

        def exchanged(loads: FloatArray, _: BoolArray) -> tuple[FloatArray, FloatArray]:
            return np.where(used, least, 0.0), np.zeros_like(loads)

        even = self._equal_finish.loads_of(used[None], exchanged)
        room = np.isfinite(even.seconds[0]) and used.sum() <= self.level.n
        return even.loads[0] if room else None

    def plan(self, aim: FloatArray, pairs: IntArray, seed: int) -> CoarsePlan:
        """Return blocks with loads near `aim` (k,) [units], refined for the predicted seconds.

        pairs (r, 2): pairs of devices (a, b); the block of a begins inside the block of b.
        """
        together = aim.copy()
        together[pairs[:, 0]] += aim[pairs[:, 1]]
        together[pairs[:, 1]] = 0.0
        devices = np.flatnonzero(together > 0)
        part = recursive_bisection(self.level, together[devices], EPSILON, seed, "given")
        part = devices[part].astype(np.int32)
        if pairs.size:
            part = with_enclosed(self.level, part, pairs, aim)
        part, seconds = self._refined(len(self._steps), part, aim, seed)
        return CoarsePlan(part, aim, pairs, float(seconds.max()))

    def on_graph(self, part: Part) -> Part:
        """Return the block (n,) of every vertex of the graph: that of its coarse vertex."""
        for step in reversed(self._steps):
            part = projected(step, part, self._threads)
        return part

    def projected(self, plan: CoarsePlan, seed: int) -> Part:
        """Return the plan's blocks (n,) on the graph, refined by seconds on smaller levels."""
        part = plan.part
        for number in reversed(range(len(self._steps))):
            part = projected(self._steps[number], part, self._threads)
            if self._levels[number].n * self._min_shrinkage <= self.problem.graph.n:
                part, _ = self._refined(number, part, plan.aim, seed)
        return part

    def _refined(
        self, number: int, part: Part, aim: FloatArray, seed: int
    ) -> tuple[Part, FloatArray]:
        """Refine blocks of a level's vertices by seconds; return them and seconds (k,)."""
        level, contract = self._levels[number], self.problem.contract(aim)
        bounds = Bounds(
            level.vwgt, level.vwgt, self._bytes[number], contract.low, contract.high, contract.caps
        )
        prices = self._prices[number]
        return refine_by(COARSE_EFFORT, level, part, bounds, prices, seed, self._threads)

    @cached_property
    def _bytes(self) -> list[FloatArray]:
        """Bytes (n,) of the vertices of every level [B]; zeros if no memory is limited."""
        if not np.isfinite(self.problem.platform.memories).any():
            return [np.zeros(level.n) for level in self._levels]
        n_bytes = [np.asarray(self.problem.graph.vertex_bytes(), np.float64)]
        for step in self._steps:
            became = step.coarse_of.astype(np.int64)
            n_bytes.append(np.asarray(np.bincount(became, n_bytes[-1], step.level.n), np.float64))
        return n_bytes

    @cached_property
    def _prices(self) -> list[Prices]:
        """Prices of messages at every level: larger clusters send more values."""
        costs, prices = self.problem.costs, []
        shrunk = np.log(self._levels[0].n / self.level.n)
        for level in self._levels:
            power = np.log(self._levels[0].n / level.n) / shrunk if shrunk else 0.0
            per_value, shared = (
                self._values**power * cost for cost in (costs.per_value, costs.shared_per_value)
            )
            prices.append(Prices(replace(costs, per_value=per_value, shared_per_value=shared)))
        return prices

    def _values_sent(self) -> float:
        """Return the mean number of values that a coarse vertex sends to each block it touches."""
        if not self._steps or self.problem.workload.of_faces:
            return 1.0  # a coarse edge weighs its faces
        blocks = min(PROBE_BLOCKS, self.level.n)
        part = recursive_bisection(self.level, np.ones(blocks), EPSILON, 1)
        many = metrics.quotient(self.problem.weighted, Partition(self.on_graph(part), blocks))
        return values_of(self.level, part, many)


def values_of(level: GraphLevel, part: Part, many: metrics.Quotient) -> float:
    """Return the mean number of values that a vertex of `level` sends to each block it touches.

    part (n,): the blocks of the level's vertices. many: what these blocks send in the finest graph.
    """
    small = Graph(level.xadj.astype(np.int64), level.adjncy.astype(np.int32))
    few = metrics.quotient(small, Partition(part, many.k)).sent.sum()
    return REFINED_VALUES * float(many.sent.sum() / few) if few else 1.0


def _coarsened(
    level: GraphLevel, size: int, max_weight: float, threads: int
) -> tuple[list[GraphLevel], list[Shrunk]]:
    """Coarsen `level` to about `size` vertices; return all levels, and the steps between them.

    max_weight [units]: maximum weight of a coarse vertex.
    """
    levels, steps, caps = [level], list[Shrunk](), np.array([max_weight])
    while level.n > size:
        # Clustering along edges stops at once on a graph of leaves: these are merged first.
        step = leaves_shrunk(level, max_weight, threads) or shrink(
            level, np.zeros(level.n, np.int32), caps, threads
        )
        if step.level.n > STUCK * level.n:
            break
        steps.append(step)
        level = step.level
        levels.append(level)
    return levels, steps


# Enclosed devices. A GPU behind a slow bus pays for every neighbour, a core in the same node hardly
# anything. Inside the core's block the GPU has one neighbour, and the cores touch each other.


def enclosed_pairs(alpha: FloatArray, used: BoolArray) -> IntArray:
    """Return devices (r, 2) with expensive messages, each paired with one that it reaches cheaply.

    alpha (k, k) [s]; used (k,): the devices to choose from. Devices with the most expensive
    messages choose first; no device occurs twice.
    """
    devices = np.flatnonzero(used)
    if devices.size < 3:
        return NO_PAIRS
    cost = alpha[np.ix_(devices, devices)] + np.diag(np.full(devices.size, np.inf))
    least = cost.min(axis=1)
    cost[EXPENSIVE * least[None, :] > least[:, None]] = np.inf
    pairs: list[tuple[int, int]] = []
    for i in np.argsort(-least, kind="stable").tolist():
        outer = int(cost[i].argmin())
        if cost[i, outer] <= least[i]:
            pairs.append((int(devices[i]), int(devices[outer])))
            cost[:, [outer, i]] = np.inf
            cost[outer] = np.inf
    return np.array(pairs, np.int64).reshape(-1, 2)


def with_enclosed(level: GraphLevel, part: Part, pairs: IntArray, aim: FloatArray) -> Part:
    """Return blocks (n,) in which each inner device's block is enclosed by its partner's.

    part: initial blocks, in which the second (outer) device of each pair has none. aim (k,)
    [units]: loads of both blocks.
    """
    xadj, adjncy = level.xadj.astype(np.int64), level.adjncy.astype(np.int32)
    rows = np.repeat(np.arange(level.n), xadj[1:] - xadj[:-1])
    ends = np.unique(rows[part[rows] != part[adjncy]])
    order, seen = np.empty(level.n, np.int64), np.empty(level.n, np.bool_)
    order[: ends.size] = ends
    breadth_first_order(xadj, adjncy, ends.size, order, seen)
    made = part.copy()
    for inner, outer in pairs.tolist():
        own = order[part[order] == inner]
        passed = np.cumsum(level.vwgt[own])
        share = passed[-1:] * aim[outer] / (aim[outer] + aim[inner])
        made[own[passed <= share]] = outer
    return made
