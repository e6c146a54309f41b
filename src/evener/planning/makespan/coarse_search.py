"""A sketch: the graph shrunk to few vertices, on which whole plans are tried at hardly any cost.

A vertex of the sketch stands for a cluster, so that its moves give blocks another shape, another
place and other neighbours, which no move of a single vertex can: a slow device whose messages are
cheap comes to lie between two fast ones whose messages are dear. Blocks begin in the machine's own
order, many times, and are refined by seconds like the graph itself; the best are worth its time.
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
from evener.partitioning.levels.levels import Level, Shrunk, finest, projected, shrink
from evener.partitioning.makespan.gain_state import Prices
from evener.partitioning.makespan.price_kernels import Bounds
from evener.partitioning.makespan.refine import EFFORTS, Effort, refine_by
from evener.planning.device_sets.equal_finish import Evening
from evener.planning.makespan.task import Task
from evener.plans import metrics
from evener.plans.partition import Partition

# Rims: the block of a device whose messages are cheap, around that of one whose are dear.
#
# A GPU behind a slow bus pays for every neighbour, a core beside it hardly anything. Within the
# core's rim the GPU has one neighbour, and rims meet rims.

DEARER = 2.0  # times what the other pays for a message at least: who is worth a rim


def rims_of(alpha: FloatArray, used: BoolArray) -> IntArray:
    """(r, 2) devices, each with one that can be its rim: one of the cheapest for it to reach.

    alpha (k, k) [s]; used (k,): the devices in question. The dearest choose first, each is
    chosen once.
    """
    devices = np.flatnonzero(used)
    if devices.size < 3:
        return np.empty((0, 2), np.int64)
    cost = alpha[np.ix_(devices, devices)] + np.diag(np.full(devices.size, np.inf))
    least = cost.min(axis=1)
    cost[DEARER * least[None, :] > least[:, None]] = np.inf
    pairs: list[tuple[int, int]] = []
    for i in np.argsort(-least, kind="stable").tolist():
        rim = int(cost[i].argmin())
        if cost[i, rim] <= least[i]:
            pairs.append((int(devices[i]), int(devices[rim])))
            cost[:, [rim, i]] = np.inf
            cost[rim] = np.inf
    return np.array(pairs, np.int64).reshape(-1, 2)


def with_rims(level: Level, part: Part, pairs: IntArray, aim: FloatArray) -> Part:
    """Return blocks (n,) in which what is outermost in each block of a pair's first is its rim's.

    part: the second of each pair has nothing yet. aim (k,) [units]: how both share the block.
    """
    xadj, adjncy = level.xadj.astype(np.int64), level.adjncy.astype(np.int32)
    rows = np.repeat(np.arange(level.n), xadj[1:] - xadj[:-1])
    ends = np.unique(rows[part[rows] != part[adjncy]])
    order, seen = np.empty(level.n, np.int64), np.empty(level.n, np.bool_)
    order[: ends.size] = ends
    breadth_first_order(xadj, adjncy, ends.size, order, seen)
    made = part.copy()
    for inner, rim in pairs.tolist():
        own = order[part[order] == inner]
        passed = np.cumsum(level.vwgt[own])
        share = passed[-1:] * aim[rim] / (aim[rim] + aim[inner])
        made[own[passed <= share]] = rim
    return made


SIZE, PER_DEVICE, LARGE = 6000, 60, 12_000  # vertices of a sketch, for each device, at most
LEAST, LEAST_PER_DEVICE = 1000, 24  # that it has in any case
THINNED = 8  # times fewer vertices than the graph: no sketch has more, unless it has the least
CLUSTER = 1.5  # times the mean: what a vertex of the sketch stands for at most
STUCK = 0.97  # of the vertices are left: clusters grow no further
GAUGES = 8  # blocks that tell how many values a vertex of the sketch sends
SMOOTHED = 0.85  # of what blocks of clusters send is left once single vertices were moved
EPSILON = 0.03  # of blocks to begin with
WORTH, PATIENCE = 0.005, 3  # what a try again must win, of how many one after the other
FIRST, NO_RIMS = 2, np.empty((0, 2), np.int64)  # sets that are tried before all without rims
EFFORT = Effort(EFFORTS["default"].rounds, 60.0)  # moves of clusters cost next to nothing


@dataclass(frozen=True, eq=False)
class Sketched:
    """Blocks of the sketch's vertices, loads (k,) [units] to begin with, what they take [s].

    rims (r, 2): devices, and whose blocks were rims around theirs to begin with.
    """

    part: Part
    aim: FloatArray
    rims: IntArray
    seconds: float

    @property
    def used(self) -> BoolArray:
        """(k,) devices that have anything."""
        return np.bincount(self.part, minlength=self.aim.size) > 0


class Sketch:
    """A small copy of a task's graph, and those between it and the graph."""

    def __init__(self, task: Task, evening: Evening, threads: int) -> None:
        self.task, self._evening, self._threads = task, evening, threads
        n, k = task.graph.n, task.platform.k
        size = min(max(SIZE, PER_DEVICE * k), LARGE, n // THINNED)
        size = max(size, LEAST, LEAST_PER_DEVICE * k)
        work = None if task.weighted.vwgt is None else task.work
        level = finest(task.graph, np.arange(n), work, np.empty(0, np.int32), threads)
        self._levels, self._shrunk = [level], list[Shrunk]()
        caps = np.array([CLUSTER * task.load / size])
        while level.n > size:
            # A graph of leaves would be stuck at once.
            step = leaves_shrunk(level, float(caps[0]), threads) or shrink(
                level, np.zeros(level.n, np.int32), caps, threads
            )
            if step.level.n > STUCK * level.n:
                break
            self._shrunk.append(step)
            level = step.level
            self._levels.append(level)
        self.level: Level = level
        self._sent = self._values_sent()

    @cached_property
    def _bytes(self) -> list[FloatArray]:
        """(n,) of the vertices of every level, or nothing where memory does not bind [B]."""
        if not np.isfinite(self.task.platform.memories).any():
            return [np.zeros(level.n) for level in self._levels]
        n_bytes = [np.asarray(self.task.graph.vertex_bytes(), np.float64)]
        for step in self._shrunk:
            became = step.coarse_of.astype(np.int64)
            n_bytes.append(np.asarray(np.bincount(became, n_bytes[-1], step.level.n), np.float64))
        return n_bytes

    def whole(self, part: Part) -> Part:
        """Return the block (n,) of every vertex of the graph."""
        for step in reversed(self._shrunk):
            part = projected(step, part, self._threads)
        return part

    def finished(self, one: Sketched, seed: int) -> Part:
        """Return a plan's blocks (n,), refined by seconds on the smaller levels on the way."""
        part = one.part
        for number in reversed(range(len(self._shrunk))):
            part = projected(self._shrunk[number], part, self._threads)
            if self._levels[number].n * THINNED <= self.task.graph.n:
                part, _ = self._refined(number, part, one.aim, seed)
        return part

    def best(self, sets: list[BoolArray], runs: int, seed: int) -> list[Sketched]:
        """Try sets of devices (k,), half of the runs for new ones, then the best again.

        Those that nothing can be for are passed over. Returns what was tried, the best first.
        """
        different = {used.tobytes(): used for used in sets if used.sum() > 1}
        loads = [one for used in different.values() if (one := self.loads(used)) is not None]
        starts = [(aim, self._rims(aim)) for aim in loads]
        starts[FIRST:FIRST] = [(aim, NO_RIMS) for aim, rims in starts[:1] if rims.size]
        found: list[Sketched] = []
        new, tired = min(len(starts), max(runs // 2, 1)), 0
        for run in range(runs if starts else 0):
            again = None if run < new else found[run % min(2, len(found))]
            aim, rims = (again.aim, again.rims) if again else starts[run]
            made = self.tried(aim, rims, seed + run)
            better = run == 0 or made.seconds < found[0].seconds * (1 - WORTH)
            tired = 0 if better or again is None else tired + 1
            found = sorted([*found, made], key=lambda one: one.seconds)
            if tired == PATIENCE:
                break
        return found

    def _rims(self, aim: FloatArray) -> IntArray:
        return rims_of(self.task.costs.alpha, aim > 0)

    def tried(self, aim: FloatArray, rims: IntArray, seed: int) -> Sketched:
        """Make blocks of about these loads (k,) [units] and refine them by seconds."""
        together = aim.copy()
        together[rims[:, 0]] += aim[rims[:, 1]]
        together[rims[:, 1]] = 0.0
        devices = np.flatnonzero(together > 0)
        part = recursive_bisection(self.level, together[devices], EPSILON, seed, "given")
        part = devices[part].astype(np.int32)
        if rims.size:
            part = with_rims(self.level, part, rims, aim)
        part, seconds = self._refined(len(self._shrunk), part, aim, seed)
        return Sketched(part, aim, rims, float(seconds.max()))

    def _refined(
        self, number: int, part: Part, aim: FloatArray, seed: int
    ) -> tuple[Part, FloatArray]:
        """Refine blocks of a level's vertices by seconds."""
        level, contract = self._levels[number], self.task.contract(aim)
        bounds = Bounds(
            level.vwgt, level.vwgt, self._bytes[number], contract.low, contract.high, contract.caps
        )
        prices = self._prices[number]
        return refine_by(EFFORT, level, part, bounds, prices, seed, self._threads)

    @cached_property
    def _prices(self) -> list[Prices]:
        """Of every level: a vertex sends more values, the more it stands for."""
        costs, prices = self.task.costs, []
        shrunk = np.log(self._levels[0].n / self.level.n)
        for level in self._levels:
            power = np.log(self._levels[0].n / level.n) / shrunk if shrunk else 0.0
            per_value, shared = (
                self._sent**power * cost for cost in (costs.per_value, costs.shared_per_value)
            )
            prices.append(Prices(replace(costs, per_value=per_value, shared_per_value=shared)))
        return prices

    def loads(self, used: BoolArray) -> FloatArray | None:
        """(k,) loads [units] that end at one time if each device sends one message, its cheapest.

        That is the least it sends; refinement weighs the rest better than estimates do. None where
        these devices have no room, or more of them are than vertices.
        """
        others = used & ~np.eye(used.size, dtype=bool)
        least = np.where(others, self.task.costs.alpha, np.inf).min(axis=1)[None]

        def exchanged(loads: FloatArray, _: BoolArray) -> tuple[FloatArray, FloatArray]:
            return np.where(used, least, 0.0), np.zeros_like(loads)

        even = self._evening.evened(used[None], exchanged)
        room = np.isfinite(even.seconds[0]) and used.sum() <= self.level.n
        return even.loads[0] if room else None

    def _values_sent(self) -> float:
        """Values that a vertex of the sketch sends to each block that it touches."""
        if not self._shrunk:
            return 1.0
        blocks = min(GAUGES, self.level.n)
        part = recursive_bisection(self.level, np.ones(blocks), EPSILON, 1)
        small = Graph(self.level.xadj.astype(np.int64), self.level.adjncy.astype(np.int32))
        few = metrics.quotient(small, Partition(part, blocks)).sent.sum()
        sent = metrics.quotient(self.task.weighted, Partition(self.whole(part), blocks)).sent.sum()
        return SMOOTHED * float(sent / few) if few else 1.0
