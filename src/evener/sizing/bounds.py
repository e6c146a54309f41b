"""The lower bound of an iteration: the best that any sizes could do if nothing were exchanged.

docs/bound.md defines it. Memory, the user's limits, speed curves and fixed seconds count; shapes
of blocks and messages do not, so no partition that keeps within memory is faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evener.arrays import FloatArray
from evener.graphs.graph import Graph
from evener.plans.costs import fixed_seconds
from evener.plans.workload import WEIGHTS, Workload
from evener.platforms.models.fitting import Constant, SpeedModel, capped
from evener.platforms.platform import Platform
from evener.platforms.with_curves import model_groups
from evener.sizing.equal_finish import halved
from evener.sizing.solving import solve_sizes

PRECISION = 1e-12  # of the bound: where bisection ends
SPARE = 1e-9  # relative: by which a time may be longer than needed to begin with
ROUNDING = 1e-12  # relative: loads this little above a limit are at it


@dataclass(frozen=True, eq=False)
class Bound:
    """seconds [s]: no partition is faster. loads (k,) [units]: sizes that would take that long.

    fits: whether all memories together hold the load; where not, memory was left out of account.
    """

    seconds: float
    loads: FloatArray
    fits: bool = True


def lower_bound(
    graph: Graph, platform: Platform, workload: Workload = WEIGHTS, *, constraint: int = 0
) -> Bound:
    """Return the least seconds per iteration that any sizes allow, and such sizes.

    A device does in T seconds at most the largest load that its memory and high_units allow and
    that it computes in T less its fixed seconds; nothing where that is below low_units. The bound
    is the least T by which that is all the work; of whole vertices and speed curves, the time of
    the best sizes. graph: as it was read; what a vertex works is the workload's or its weight
    `constraint`. O(n log n) where memory is in bytes, else O(k).
    """
    work = workload.work(graph) if any(workload.shares) else graph.weights(constraint)
    work = np.asarray(work, np.float64)
    load = float(work.sum())
    if load <= 0:
        return Bound(0.0, np.zeros(platform.k))
    each = float(work[0]) if (work == work[0]).all() else 0.0
    memory = _Memory(graph, work, platform.memories) if _is_capped(platform) else None
    for room in (memory, None):
        done = _Done(platform, workload, load, each, room)
        bound = _least(done, load, fits=room is memory)
        if bound is not None:
            return replace(bound, seconds=max(bound.seconds, done.of_best_sizes()))
    return _endless(platform)


def _is_capped(platform: Platform) -> bool:
    return bool(np.isfinite(platform.memories).any())


def _endless(platform: Platform) -> Bound:
    """No sizes do all the work, even without memory: high_units or the curves' ends forbid it."""
    return Bound(float("inf"), np.zeros(platform.k), fits=False)


class _Memory:
    """How much work fits: the vertices of least bytes for their work, first; a part of the last."""

    def __init__(self, graph: Graph, work: FloatArray, memories: FloatArray) -> None:
        n_bytes = np.asarray(graph.vertex_bytes(), np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(np.where(work > 0, n_bytes / work, np.inf), kind="stable")
        self._bytes = np.concatenate([[0.0], np.cumsum(n_bytes[order])])
        self._work = np.concatenate([[0.0], np.cumsum(work[order])])
        self.memories = memories
        self.room = self.held(memories)

    def held(self, n_bytes: FloatArray) -> FloatArray:
        """Most work of vertices that need at most so many bytes together [units]."""
        return np.asarray(np.interp(n_bytes, self._bytes, self._work))


def _least(done: _Done, load: float, *, fits: bool) -> Bound | None:
    """Bisect on the time; None where no time is enough."""
    enough = load * (1 - ROUNDING)
    late = done.longest
    if not np.isfinite(late) or done.together(late) < enough:
        return None
    early, late = halved(lambda time: done.together(time) >= enough, 0.0, late, PRECISION)
    loads = done.alone(late)
    return Bound(early, loads * (load / loads.sum()), fits)


class _Done:
    """What devices can do by a time, each alone and all together.

    each: work of every vertex [units], 0 where they differ.
    """

    def __init__(
        self, platform: Platform, workload: Workload, load: float, each: float,
        memory: _Memory | None,
    ) -> None:  # fmt: skip
        self._memory, self._each, self._load = memory, each, load
        self._fixed = fixed_seconds(platform, workload)
        self._low = platform.low_units * (1 - ROUNDING)
        self._room = np.full(platform.k, np.inf) if memory is None else memory.room
        self._high = np.minimum(platform.high_units, load)
        self._rates = np.zeros(platform.k)
        curved: dict[tuple[int, float], tuple[SpeedModel, list[int]]] = {}
        for group in model_groups(platform):
            own = np.minimum(self._high[group.devices], group.model.capacity)
            self._high[group.devices] = own
            if isinstance(group.model, Constant):
                self._rates[group.devices] = group.model.rate
                continue
            # Where a larger load takes less time, what is done by then depends on the limit.
            most = np.minimum(own, self._room[group.devices])
            for b, limit in zip(group.devices.tolist(), most.tolist(), strict=True):
                if limit > 0:
                    known = curved.setdefault(
                        (id(group.model), limit), (capped(group.model, limit), list[int]())
                    )
                    known[1].append(b)
        self._curved = [(model, np.array(own)) for model, own in curved.values()]

    @property
    def longest(self) -> float:
        """A time by which whatever can be done at all is done [s]."""
        steady = self._rates[self._rates > 0]
        ends = [self._load / float(steady.min())] if steady.size else [0.0]
        ends += [float(model.time(model.capacity)) for model, _ in self._curved]
        return (float(self._fixed.max()) + max(ends)) * (1 + SPARE)

    def of_best_sizes(self) -> float:
        """Time of the best whole sizes, or a bound of it, by curves; 0 where it is not asked [s].

        By constant speeds the bisection has it, and lower limits are beyond that search.
        """
        if not (self._curved and self._each == 1.0 and not self._low.any()):
            return 0.0
        models: list[SpeedModel] = [Constant(rate or 1.0) for rate in self._rates.tolist()]
        for model, own in self._curved:
            for b in own.tolist():
                models[b] = model
        most = np.floor(np.minimum(self._high, self._room) * (1 + ROUNDING))
        found = solve_sizes(
            models, round(self._load), "exact", high=most, fixed_seconds=self._fixed
        )
        return found.bound * (1 - PRECISION)

    def alone(self, seconds: float) -> FloatArray:
        """(k,) most that each device can do by then [units]."""
        most = np.minimum(self._computed(seconds), self._room)
        return self._whole(most)

    def together(self, seconds: float) -> float:
        """The most that all devices can do by then [units].

        Devices that memory limits cannot all hold the vertices that need least: what they hold
        together is at most what fits into the sum of their memories.
        """
        computed = self._computed(seconds)
        alone = float(self._whole(np.minimum(computed, self._room)).sum())
        if self._memory is None:
            return alone
        limited = (self._room <= computed) & np.isfinite(self._memory.memories)
        if limited.sum() < 2:
            return alone
        held = self._memory.held(np.array([self._memory.memories[limited].sum()]))[0]
        return min(alone, float(held + self._whole(computed)[~limited].sum()))

    def _computed(self, seconds: float) -> FloatArray:
        """(k,) most that each computes by then, by its speed and the user's limits alone."""
        left = np.maximum(seconds - self._fixed, 0.0)
        most = left * self._rates
        for model, own in self._curved:
            most[own] = model.max_load(left[own])
        most = np.minimum(most * (1 + ROUNDING), self._high)
        return np.where(most >= self._low, most, 0.0)

    def _whole(self, loads: FloatArray) -> FloatArray:
        """Loads of whole vertices, where all of them work the same."""
        if self._each <= 0:
            return loads
        return np.asarray(np.floor(loads * ((1 + ROUNDING) / self._each)) * self._each)
