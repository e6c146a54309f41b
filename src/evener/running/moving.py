"""Moves vertices between devices during a run, if an adviser predicts that this saves time.

After some supersteps, all devices send their computing times to the first one, which asks the
adviser. If vertices are to move, the supersteps stop: each vertex's state is sent to its new device
(RunState, as in a checkpoint), the parts of the graph and the halos are built anew, and the
supersteps continue. The program's values do not depend on where vertices are computed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from evener.arrays import FloatArray, IntVector, Part
from evener.graphs.directed import DirectedGraph
from evener.graphs.graph import Graph
from evener.plans.partition import Partition
from evener.running.comm import Comm
from evener.running.distributing import local_graph
from evener.running.engine.engine import MOST
from evener.running.engine.recording import DeviceRun, StepRecorder, VertexMove, joined
from evener.running.engine.states import RunState
from evener.running.engine.supersteps import Keep
from evener.running.local_graphs import LocalGraph, Want

# Largest share of a run's time for asking, chosen by hand: less than the difference of two equal
# runs. If an answer without a move took long, because partitions were computed, the next question
# waits for up to 1 / MOST_SHARE_ONCE of that time.
MOST_SHARE, MOST_SHARE_ONCE = 0.01, 0.1
# Least seconds between two questions, so that a mean covers many time slices of processes that
# share a core: Linux leaves a core to one of two processes for 3 to 4 ms. A question takes 1 ms.
LEAST_SECONDS = 0.2


class DeviceTimes(NamedTuple):
    """What devices did since the adviser was last asked.

    supersteps: their number; left: the most that are left, or None if unknown. computing (k,) [s],
    arcs (k,): sums over these supersteps. is_dense: whether each superstep visited all arcs. built
    [s]: time of building the parts of the graph, on the slowest device. step: supersteps done so
    far. seconds: duration of these supersteps, waiting included; NaN if unknown.
    """

    supersteps: int
    left: int | None
    computing: FloatArray
    arcs: FloatArray
    is_dense: bool
    built: float
    step: int = 0
    seconds: float = math.nan


class MoveAdvice(NamedTuple):
    """The adviser's answer: part (n,), the new device of each vertex; kind: how it was found.

    saving [s per superstep], cost [s]: predicted.
    """

    part: Part
    kind: str
    saving: float
    cost: float


class Adviser(Protocol):
    """Decides about moves on the first device; see evener.rebalancing.run_rebalancer."""

    def observe(self, seen: DeviceTimes) -> MoveAdvice | None:
        """Record what devices did; return a move, or None to continue without one."""

    def moved(self, seconds: float) -> None:
        """Record the duration [s] of the last move, from `observe` to the next superstep."""


@dataclass(eq=False)
class Rebalancing:
    """How a run is rebalanced: the adviser, and the number of supersteps between calls of it.

    every: number of supersteps; None: so many that calls take at most MOST_SHARE of the time and
    are at least LEAST_SECONDS apart. built [s]: time of building the parts when the run began,
    which the run sets.
    """

    adviser: Adviser
    every: int | None = None
    built: float = 0.0


@dataclass(frozen=True, eq=False)
class Segment:
    """How a device computes supersteps until the program ends or `keep` stops it.

    run(local, start, keep): like SuperstepLoop. schedule: the program's schedule. most: largest
    number of supersteps. want: arcs that the parts contain. threads: number of the device's
    threads, which also build its parts.
    """

    run: Callable[[LocalGraph, RunState | None, Keep], DeviceRun]
    schedule: str
    most: int
    want: Want
    threads: int


class MovingDevice:
    """One device's run, whose vertices may move; all devices create it and call `run`.

    graph, partition: those from which the first local graph was built.
    """

    def __init__(
        self,
        comm: Comm,
        rebalancing: Rebalancing,
        segment: Segment,
        graph: Graph | DirectedGraph,
        partition: Partition,
    ) -> None:
        self.comm, self.segment, self.graph = comm, segment, graph
        self._asks = _Asking(comm, rebalancing, segment)
        self._part: Part = partition.part

    def run(self, local: LocalGraph, start: RunState | None, keep: Keep | None) -> DeviceRun:
        """Run supersteps and moves until the program ends or reaches segment.most.

        keep: called before the adviser is asked; never stops the run.
        """

        def ask(step: int, take: Callable[[], RunState], steps: StepRecorder) -> int:
            pause = MOST if keep is None else keep(step, take, steps)
            return min(pause, self._asks(step, take, steps))

        whole = self.segment.run(local, start, ask)
        while (stopped := self._asks.take_stopped()) is not None:
            part = stopped.advice.part
            count = int(np.count_nonzero(part != self._part))
            now = self._rebuilt(local, part)
            state = moved_state(self.comm, stopped.state, local.owned, part, now.owned)
            local, self._part = now, part
            rest = self.segment.run(local, state, ask)
            move = VertexMove(
                stopped.state.step, stopped.advice.kind, count, stopped.began - whole.began,
                rest.began - stopped.began, stopped.advice.saving, stopped.advice.cost,
            )  # fmt: skip
            whole = replace(joined(whole, rest), moves=(*whole.moves, move))
        return replace(whole, owned=local.owned, asking=self._asks.seconds)

    def _rebuilt(self, local: LocalGraph, part: Part) -> LocalGraph:
        """Return this device's new part of the graph, or `local` if the part is the same."""
        changed, rank = part != self._part, self.comm.rank
        came = bool((changed & (part == rank)).any())
        if self.graph.symmetric and not came and not changed[local.numbers].any():
            return local
        partition, segment = Partition(part, self.comm.size), self.segment
        return local_graph(self.graph, partition, rank, want=segment.want, threads=segment.threads)


def moved_state(
    comm: Comm, state: RunState, owned: IntVector, part: Part, now_owned: IntVector
) -> RunState:
    """Return the state of the vertices that this device now owns. All devices call this.

    state: of the vertices owned (m,) before, in their order; part (n,): the new device of each
    vertex; now_owned: the vertices that this device now owns, by global number.
    """
    to = part[owned]
    parts: list[Any] = [None] * comm.size
    for q in np.unique(to).tolist():
        which = np.flatnonzero(to == q)
        own = state.of(which)
        parts[q] = owned[which], own.values, own.payloads, own.active
    here, parts[comm.rank] = parts[comm.rank], None
    found = [one for one in [*comm.exchange(parts), here] if one is not None]
    numbers, values, payloads, active = (
        None if not rows or rows[0] is None else np.concatenate(rows)
        for rows in (zip(*found, strict=True) if found else [()] * 4)
    )
    if numbers is None or values is None:
        return state.of(np.empty(0, np.int64))
    order = np.argsort(numbers)
    joined = RunState(state.step, values, payloads, active, state.numbers)
    return joined.of(order[np.searchsorted(numbers[order], now_owned)])


class _Stopped(NamedTuple):
    """Why supersteps stopped: the advice, this device's state, and the time of the question [s]."""

    advice: MoveAdvice
    state: RunState
    began: float


class _Asking:
    """A Keep that asks the adviser after some supersteps, on the first device, for all devices.

    seconds: on the first device, time of all questions so far that led to no move.
    """

    def __init__(self, comm: Comm, rebalancing: Rebalancing, segment: Segment) -> None:
        self.comm, self.given, self.segment = comm, rebalancing, segment
        self.seconds = 0.0
        self._next = 0  # superstep after which the adviser is asked
        self._steps: StepRecorder | None = None  # recorder of the supersteps since the last move
        self._seen = 0  # how many of these the adviser knows
        self._since = 0.0  # when the first of the others began [s]
        self._has_asked = False
        self._usual = math.inf  # seconds of the shortest question, without the first
        self._passing_on = 0.0  # seconds until all devices knew the last answer
        self._moved: float | None = None  # when the last unreported move was requested [s]
        self._stopped: _Stopped | None = None

    def __call__(self, step: int, take: Callable[[], RunState], steps: StepRecorder) -> int:
        """Ask the adviser if it is time; return the supersteps until then, 0 to stop for a move."""
        if self._steps is not steps:
            self._steps, self._seen, self._since, self._next = steps, 0, steps.began, 0
        if step >= self.segment.most:
            return MOST
        if step < self._next:
            return self._next - step
        began = time.perf_counter()
        with steps.timed("waiting"):
            advice = self._asked(step, steps, began)
        if advice is None:
            self._since = time.perf_counter()
            return self._next - step
        self._stopped, self._moved = _Stopped(advice, take(), began), began
        return 0

    def take_stopped(self) -> _Stopped | None:
        """Return why supersteps have stopped, once; None if they have ended."""
        stopped, self._stopped = self._stopped, None
        return stopped

    def _asked(self, step: int, steps: StepRecorder, began: float) -> MoveAdvice | None:
        fresh = steps.steps[self._seen :]
        self._seen = len(steps.steps)
        own = sum(one.computing for one in fresh), sum(one.edges for one in fresh)
        gathered = self.comm.allgather((*own, self.given.built))
        answer: tuple[MoveAdvice | None, int] = None, 1
        if self.comm.rank == 0:
            answer = self._answered(step, steps, gathered, began - self._since, len(fresh))
        known = time.perf_counter()
        advice, ahead = self.comm.bcast(answer)
        self._passing_on = time.perf_counter() - known
        self._next = step + ahead
        return advice

    def _answered(
        self,
        step: int,
        steps: StepRecorder,
        gathered: list[tuple[float, int, float]],
        seconds: float,
        count: int,
    ) -> tuple[MoveAdvice | None, int]:
        """Return the adviser's answer, and the number of supersteps until the next question.

        seconds: duration of the last `count` supersteps.
        """
        began = time.perf_counter()
        adviser, most = self.given.adviser, self.segment.most
        if self._moved is not None:
            adviser.moved(steps.began - self._moved)
            self._moved = None
        computing, arcs, built = np.array(gathered, np.float64).T
        left = None if most >= MOST else most - step
        is_dense = self.segment.schedule == "dense"
        longest = float(built.max())
        seen = DeviceTimes(count, left, computing, arcs, is_dense, longest, step, seconds)
        advice = adviser.observe(seen)
        spent = time.perf_counter() - began + 2 * self._passing_on
        if advice is None:
            self.seconds += spent
        if self.given.every is not None:
            return advice, self.given.every
        pause = LEAST_SECONDS
        if self._has_asked:  # at the first question the adviser prepares itself, once
            self._usual = min(self._usual, spent)
            pause = max(self._usual / MOST_SHARE, spent / MOST_SHARE_ONCE, LEAST_SECONDS)
        self._has_asked = True
        return advice, max(1, math.ceil(pause * count / max(seconds, 1e-9)))
