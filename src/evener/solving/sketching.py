"""A sketch: the graph shrunk to few vertices, on which whole plans are tried at hardly any cost.

A vertex of the sketch stands for a cluster, so that its moves give blocks another shape, another
place and other neighbours, which no move of a single vertex can: a slow device whose messages are
cheap comes to lie between two fast ones whose messages are dear. Blocks begin in the machine's own
order, many times, and are refined by seconds like the graph itself; the best are worth its time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evener import metrics
from evener.arrays import BoolArray, FloatArray
from evener.graphs import Graph
from evener.partitioning.bisection import recursive_bisection
from evener.partitioning.levels import Level, Shrunk, finest, projected, shrink
from evener.partitioning.seconds import EFFORTS, refine_by
from evener.partitioning.seconds_books import Prices
from evener.partitioning.seconds_prices_kernels import Bounds
from evener.partitions import Partition
from evener.solving.evening import Evening
from evener.solving.judging import Part, Task

SIZE, PER_DEVICE = 1000, 24  # vertices of a sketch: at least, and for each device
CLUSTER = 1.5  # times the mean: what a vertex of the sketch stands for at most
STUCK = 0.97  # of the vertices are left: clusters grow no further
GAUGES = 8  # blocks that tell how many values a vertex of the sketch sends
SMOOTHED = 0.85  # of what blocks of clusters send is left once single vertices were moved
EPSILON = 0.03  # of blocks to begin with


@dataclass(frozen=True, eq=False)
class Sketched:
    """Blocks of the sketch's vertices, loads (k,) [units] to begin with, what they take [s]."""

    part: Part
    aim: FloatArray
    seconds: float

    @property
    def used(self) -> BoolArray:
        """(k,) devices that have anything."""
        return np.bincount(self.part, minlength=self.aim.size) > 0


class Sketch:
    """A small copy of a task's graph."""

    def __init__(self, task: Task, evening: Evening, threads: int) -> None:
        self.task, self._evening, self._threads = task, evening, threads
        n, size = task.graph.n, max(SIZE, PER_DEVICE * task.platform.k)
        work = None if task.weighted.vwgt is None else task.work
        level = finest(task.graph, np.arange(n), work, np.empty(0, np.int32), threads)
        self._shrunk: list[Shrunk] = []
        caps = np.array([CLUSTER * task.load / size])
        while level.n > size:
            step = shrink(level, np.zeros(level.n, np.int32), caps, threads)
            if step.level.n > STUCK * level.n:
                break
            self._shrunk.append(step)
            level = step.level
        self.level: Level = level
        costs = task.costs
        scale = self._values_sent()
        self._prices = Prices(
            replace(costs, beta=costs.beta * scale, shared_beta=costs.shared_beta * scale)
        )
        self._bytes = np.zeros(level.n)
        if np.isfinite(task.platform.memories).any():
            became = self.whole(np.arange(level.n, dtype=np.int32))
            self._bytes += np.bincount(became, task.graph.vertex_bytes(), level.n)

    def whole(self, part: Part) -> Part:
        """Return the block (n,) of every vertex of the graph."""
        for step in reversed(self._shrunk):
            part = projected(step, part, self._threads)
        return part

    def best(self, sets: list[BoolArray], runs: int, seed: int) -> list[Sketched]:
        """Try sets of devices (k,), half of the runs for new ones, then the best again.

        Those that nothing can be for are passed over. Returns what was tried, the best first.
        """
        different = {used.tobytes(): used for used in sets if used.sum() > 1}
        loads = [one for used in different.values() if (one := self.loads(used)) is not None]
        found: list[Sketched] = []
        for run in range(runs if loads else 0):
            found.sort(key=lambda one: one.seconds)
            new = run < min(len(loads), max(runs // 2, 1))
            aim = loads[run] if new else found[run % min(2, len(found))].aim
            found.append(self.tried(aim, seed + run))
        return sorted(found, key=lambda one: one.seconds)

    def tried(self, aim: FloatArray, seed: int) -> Sketched:
        """Make blocks of about these loads (k,) [units] and refine them by seconds."""
        devices, contract = np.flatnonzero(aim > 0), self.task.contract(aim)
        part = recursive_bisection(self.level, aim[devices], EPSILON, seed, "given")
        part = devices[part].astype(np.int32)
        bounds = Bounds(
            self.level.vwgt, self.level.vwgt, self._bytes, contract.low, contract.high,
            contract.caps,
        )  # fmt: skip
        part, seconds = refine_by(
            EFFORTS["default"], self.level, part, bounds, self._prices, seed, self._threads
        )
        return Sketched(part, aim, float(seconds.max()))

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
