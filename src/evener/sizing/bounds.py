"""lower_bound: a lower bound on the time per iteration, which ignores communication.

docs/prediction.md defines it. The bound respects memory, low_units, high_units, speed curves and
fixed seconds. It ignores the shapes of blocks and all messages, so no partition that fits the
memories is faster.
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
from evener.sizing.facts import HeldWork, WorkFacts, work_facts_of
from evener.sizing.solving import solve_sizes

PRECISION = 1e-12  # relative precision of the bisection on the time
SPARE = 1e-9  # relative amount added to the upper end at which the bisection begins
ROUNDING = 1e-12  # relative: loads this little above a limit are at the limit


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound on the time of one iteration.

    seconds [s]: no partition is faster. loads (k,) [units]: sizes that would take this time.
    fits: whether all memories together hold the load; if not, the bound ignores memory.
    """

    seconds: float
    loads: FloatArray
    fits: bool = True


def lower_bound(
    graph: Graph, platform: Platform, workload: Workload = WEIGHTS, *, constraint: int = 0
) -> Bound:
    """Return the least time per iteration that any sizes allow, and sizes that take this time.

    In T seconds, a device does at most the largest load that fits its memory and high_units and
    that it computes in T minus its fixed seconds; it does nothing if this load is below low_units.
    The bound is the least T for which these loads add up to all the work. For vertices of weight 1
    and speed curves, the bound is the makespan of the best whole sizes, if that is later. graph:
    the graph as read, not the result of Workload.weighted. If the workload states the work of
    vertices, this is used, else the vertex weight `constraint`. O(n log n) if memory is in bytes,
    else O(k).
    """
    facts = work_facts_of(graph, platform, workload, constraint)
    return bound_of_facts(facts, platform, workload)


def bound_of_facts(facts: WorkFacts, platform: Platform, workload: Workload = WEIGHTS) -> Bound:
    """Return the `lower_bound` of a graph, computed from the graph's WorkFacts."""
    if facts.load <= 0:
        return Bound(0.0, np.zeros(platform.k))
    for held in (facts.held, None):
        done = _WorkByTime(platform, workload, facts.load, facts.each, held)
        bound = _least(done, facts.load, fits=held is facts.held)
        if bound is not None:
            return replace(bound, seconds=max(bound.seconds, done.of_best_sizes()))
    # The work exceeds the high_units or the capacities of speed curves.
    return Bound(float("inf"), np.zeros(platform.k), fits=False)


def _least(done: _WorkByTime, load: float, *, fits: bool) -> Bound | None:
    """Return the bound, found by bisection on the time, or None if no time is enough."""
    enough = load * (1 - ROUNDING)
    late = done.longest
    if not np.isfinite(late) or done.together(late) < enough:
        return None
    early, late = halved(lambda time: done.together(time) >= enough, 0.0, late, PRECISION)
    loads = done.alone(late)
    return Bound(early, loads * (load / loads.sum()), fits)


class _WorkByTime:
    """How much work each device, and all devices together, can do in a given time.

    load: work of the whole graph [units]. each: work of every vertex [units], 0 if the work
    differs between vertices. held: the work that fits into a memory; None ignores memory.
    """

    def __init__(
        self, platform: Platform, workload: Workload, load: float, each: float,
        held: HeldWork | None,
    ) -> None:  # fmt: skip
        self._held, self._memories, self._each, self._load = held, platform.memories, each, load
        self._fixed = fixed_seconds(platform, workload)
        self._low = platform.low_units * (1 - ROUNDING)
        self._room = np.full(platform.k, np.inf) if held is None else held.of(platform.memories)
        self._high = np.minimum(platform.high_units, load)
        self._rates = np.zeros(platform.k)
        curved: dict[tuple[int, float], tuple[SpeedModel, list[int]]] = {}
        for group in model_groups(platform):
            own = np.minimum(self._high[group.devices], group.model.capacity)
            self._high[group.devices] = own
            if isinstance(group.model, Constant):
                self._rates[group.devices] = group.model.rate
                continue
            # Time may fall with load; then the load done in a given time depends on the limit.
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
        """A time [s] by which every device has done as much work as its limits allow."""
        steady = self._rates[self._rates > 0]
        ends = [self._load / float(steady.min())] if steady.size else [0.0]
        ends += [float(model.time(model.capacity)) for model, _ in self._curved]
        return (float(self._fixed.max()) + max(ends)) * (1 + SPARE)

    def of_best_sizes(self) -> float:
        """Return a lower bound on the makespan of whole sizes under speed curves [s].

        Returns 0 unless a device has a speed curve, all vertices have work 1, and no device has
        low_units. (For constant speeds alone, the bisection suffices.)
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
        """Return the most work (k,) [units] that each device can do in `seconds`."""
        most = np.minimum(self._computed(seconds), self._room)
        return self._whole(most)

    def together(self, seconds: float) -> float:
        """Return the most work [units] that all devices together can do in `seconds`.

        Devices limited by memory cannot all hold the same vertices of few bytes. Together they
        hold at most the work that fits into the sum of their memories.
        """
        computed = self._computed(seconds)
        alone = float(self._whole(np.minimum(computed, self._room)).sum())
        if self._held is None:
            return alone
        limited = (self._room <= computed) & np.isfinite(self._memories)
        if limited.sum() < 2:
            return alone
        held = self._held.of(np.array([self._memories[limited].sum()]))[0]
        return min(alone, float(held + self._whole(computed)[~limited].sum()))

    def _computed(self, seconds: float) -> FloatArray:
        """Return the most work (k,) [units] that devices compute in `seconds`, ignoring memory."""
        left = np.maximum(seconds - self._fixed, 0.0)
        most = left * self._rates
        for model, own in self._curved:
            most[own] = model.max_load(left[own])
        most = np.minimum(most * (1 + ROUNDING), self._high)
        return np.where(most >= self._low, most, 0.0)

    def _whole(self, loads: FloatArray) -> FloatArray:
        """Return the loads, rounded down to whole vertices if all vertices have the same work."""
        if self._each <= 0:
            return loads
        return np.asarray(np.floor(loads * ((1 + ROUNDING) / self._each)) * self._each)
