"""Rows of advice: seconds, money and energy of sets of devices; the best, and the knee."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.planning.advise.set_plans import Confirmed, SetPlan
from evener.planning.device_sets.sets import DeviceSet
from evener.plans.advice import Advice, Choice
from evener.plans.plan import Prediction
from evener.platforms.platform import Platform, with_only
from evener.platforms.with_curves import least_seconds

ITERATIONS = 1000  # for which money and energy are counted
SECONDS_PER_HOUR = 3600.0
KNEE = 1.1  # times the least seconds: the knee is the smallest set that takes no longer
SAME = 1.002  # times the least seconds: a smaller set that takes no longer is the best one


@dataclass(frozen=True, eq=False)
class AdviceRows:
    """Makes rows of planned and of estimated sets; work [units]: of one iteration."""

    platform: Platform
    work: float
    confirmed: Confirmed

    @property
    def single(self) -> float:
        """Seconds of the best single device [s]; NaN if no single device has a plan."""
        alone = [one.seconds for one in self.confirmed.plans if one.devices.size == 1]
        return min(alone, default=np.nan)

    def of_size(self, one: DeviceSet) -> Choice:
        """Return the row of the best planned set of this size, or the estimate of `one` if none."""
        same = [p for p in self.confirmed.plans if p.devices.size == one.devices.size]
        return self.of_plan(min(same, key=lambda p: p.seconds)) if same else self.of_estimate(one)

    def of_plan(self, made: SetPlan, nodes: int | None = None) -> Choice:
        """Return the row of a planned set."""
        return self._row(made.devices, made.seconds, made.prediction, nodes)

    def of_estimate(self, one: DeviceSet, nodes: int | None = None) -> Choice:
        """Return the row of an estimated set."""
        return self._row(one.devices, self.confirmed.corrected(one), None, nodes)

    def of_nodes(self, one: DeviceSet, nodes: IntVector) -> Choice:
        """Return the row of a set of whole nodes, with its plan if it was planned."""
        count = int(np.unique(nodes[one.devices]).size)
        for made in self.confirmed.plans:
            if np.array_equal(made.devices, one.devices):
                return self.of_plan(made, count)
        return self.of_estimate(one, count)

    def no_better(self, row: Choice, best: Choice) -> Choice:
        """Return an estimated row; seconds below the best plan's are raised to the best plan's."""
        if row.seconds >= best.seconds:
            return row
        return self._row(row.devices, best.seconds, None, row.nodes)

    def _row(
        self, devices: IntVector, seconds: float, prediction: Prediction | None, nodes: int | None
    ) -> Choice:
        platform = with_only(self.platform, devices.tolist())
        bound = least_seconds(platform, self.work)
        if not platform.has_curves:
            bound = self.work / float(platform.speeds.sum())
        busy = np.full(platform.k, seconds) if prediction is None else prediction.seconds[devices]
        return Choice(
            devices, seconds, prediction is not None,
            speed_up=self.single / seconds if seconds > 0 else 1.0,
            efficiency=min(bound / seconds, 1.0) if seconds > 0 else 1.0,
            cost=_cost(platform, seconds),
            energy=_energy(platform, busy, seconds),
            nodes=nodes,
        )  # fmt: skip


def _cost(platform: Platform, seconds: float) -> float | None:
    """Return the money for 1,000 iterations; None if a device states no cost."""
    each = [device.cost_per_hour for device in platform.devices]
    if any(cost is None for cost in each):
        return None
    return (
        ITERATIONS
        * seconds
        / SECONDS_PER_HOUR
        * float(sum(cost for cost in each if cost is not None))
    )


def _energy(platform: Platform, busy: npt.NDArray[np.float64], seconds: float) -> float | None:
    """Return the energy of 1,000 iterations [J]; None if a device states no power.

    While a device waits for the last one, its power is its idle power.
    """
    total = 0.0
    for device, own in zip(platform.devices, busy.tolist(), strict=True):
        if device.watts is None:
            return None
        idle = device.watts if device.idle_watts is None else device.idle_watts
        total += device.watts * own + idle * max(seconds - own, 0.0)
    return ITERATIONS * total


def advice_of(
    view: AdviceRows,
    sizes: list[DeviceSet],
    whole: list[DeviceSet],
    nodes: IntVector | None,
    every: float,
) -> Advice:
    """Return the rows of all sizes, with the best, the knee and the whole machine marked.

    sizes: the best estimated set of each size. whole: sets of whole nodes; nodes (k,): of each
    device. every [s]: seconds of the fastest other plan that uses all devices.
    """
    confirmed, platform = view.confirmed, view.platform
    rows = [view.of_size(one) for one in sizes]
    best = view.of_plan(_fewest(confirmed, platform.k, every))
    rows = [_sooner(row, every) if row.devices.size == platform.k else row for row in rows]
    others = [row for row in rows if row.devices.size != best.devices.size]
    rows = sorted([*others, best], key=lambda row: row.devices.size)
    # A set that is likely to be faster than the best would have been planned.
    rows = [row if row.planned else view.no_better(row, best) for row in rows]
    knee = next(row for row in rows if row.seconds <= KNEE * best.seconds)
    everyone = next((row for row in rows if row.devices.size == platform.k), None)
    by_node = [] if nodes is None else [view.of_nodes(one, nodes) for one in whole]
    return Advice(
        platform, tuple(rows), tuple(by_node), best, knee, everyone, confirmed.complete,
        platform.relative_ideal(view.work),
    )  # fmt: skip


def _fewest(confirmed: Confirmed, k: int, every: float) -> SetPlan:
    """Return the plan with the fewest devices among those within 0.2 % of the best.

    It is also no slower than the fastest plan that uses all devices, unless every plan of
    `confirmed` is slower than that.
    """
    full = min((p.seconds for p in confirmed.plans if p.devices.size == k), default=every)
    full = min(full, every)
    enough = min(SAME * confirmed.best.seconds, max(full, confirmed.best.seconds))
    as_fast = [made for made in confirmed.plans if made.seconds <= enough]
    return min(as_fast, key=lambda one: (one.devices.size, one.seconds))


def _sooner(row: Choice, seconds: float) -> Choice:
    """Return the row with the seconds of another plan of the same set, if that plan is faster."""
    if not seconds < row.seconds:
        return row
    share = seconds / row.seconds
    return replace(
        row,
        seconds=seconds,
        planned=True,
        speed_up=row.speed_up / share,
        efficiency=row.efficiency / share,
        cost=None if row.cost is None else row.cost * share,
        energy=None if row.energy is None else row.energy * share,
    )
