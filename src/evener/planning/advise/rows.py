"""Rows of advice: what sets of devices cost in seconds, money and energy, and which stand out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evener.arrays import IntVector
from evener.planning.advise.confirming import Confirmed
from evener.planning.advise.trials import Trial, only
from evener.planning.device_sets.sets import Candidate, Found
from evener.plans.advice import Advice, Choice
from evener.plans.plan import Prediction
from evener.platforms.platform import Platform
from evener.platforms.with_curves import least_seconds

ITERATIONS = 1000  # that money and energy are counted for
HOUR = 3600.0
NEARLY = 1.1  # times the least seconds: the knee is where fewest devices are this near
SAME = 1.002  # times the least seconds: as fast, with fewer devices


@dataclass(frozen=True, eq=False)
class Rows:
    """Turns candidates and trials of a platform into rows; work [units]: of an iteration."""

    platform: Platform
    work: float
    confirmed: Confirmed

    @property
    def single(self) -> float:
        """Seconds of the best device alone [s]; no number where none has a plan."""
        alone = [one.seconds for one in self.confirmed.trials if one.devices.size == 1]
        return min(alone, default=np.nan)

    def of_size(self, one: Candidate) -> Choice:
        """The best set planned of this size, or the estimate corrected."""
        same = [t for t in self.confirmed.trials if t.devices.size == one.devices.size]
        return self.of_trial(min(same, key=lambda t: t.seconds)) if same else self.of_estimate(one)

    def of_trial(self, trial: Trial, nodes: int | None = None) -> Choice:
        """A row that was planned."""
        return self._row(trial.devices, trial.seconds, trial.prediction, nodes)

    def of_estimate(self, one: Candidate, nodes: int | None = None) -> Choice:
        """A row that is estimated."""
        return self._row(one.devices, self.confirmed.corrected(one), None, nodes)

    def of_nodes(self, one: Candidate, nodes: IntVector) -> Choice:
        """The row of whole nodes, planned where this set was."""
        count = int(np.unique(nodes[one.devices]).size)
        for trial in self.confirmed.trials:
            if np.array_equal(trial.devices, one.devices):
                return self.of_trial(trial, count)
        return self.of_estimate(one, count)

    def no_better(self, row: Choice, best: Choice) -> Choice:
        """An estimated row, not faster than the best plan."""
        if row.seconds >= best.seconds:
            return row
        return self._row(row.devices, best.seconds, None, row.nodes)

    def _row(
        self, devices: IntVector, seconds: float, prediction: Prediction | None, nodes: int | None
    ) -> Choice:
        platform = only(self.platform, devices.tolist())
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
    """Money for 1,000 iterations, if every device says its own."""
    each = [device.cost_per_hour for device in platform.devices]
    if any(cost is None for cost in each):
        return None
    return ITERATIONS * seconds / HOUR * float(sum(cost for cost in each if cost is not None))


def _energy(platform: Platform, busy: npt.NDArray[np.float64], seconds: float) -> float | None:
    """Energy of 1,000 iterations [J], if every device says its power; waiting counts as idle."""
    total = 0.0
    for device, own in zip(platform.devices, busy.tolist(), strict=True):
        if device.watts is None:
            return None
        idle = device.watts if device.idle_watts is None else device.idle_watts
        total += device.watts * own + idle * max(seconds - own, 0.0)
    return ITERATIONS * total


def advice_of(
    view: Rows, found: Found, whole: list[Candidate], nodes: IntVector | None, every: float
) -> Advice:
    """Put rows of every size together, and mark the best, the knee and the whole machine.

    whole: sets of whole nodes, by nodes (k,); every [s]: least of other plans of all devices.
    """
    confirmed, platform = view.confirmed, view.platform
    rows = [view.of_size(one) for one in found.of_each_size()]
    best = view.of_trial(_fewest(confirmed, platform.k, every))
    rows = [_sooner(row, every) if row.devices.size == platform.k else row for row in rows]
    others = [row for row in rows if row.devices.size != best.devices.size]
    rows = sorted([*others, best], key=lambda row: row.devices.size)
    # An estimate never looks better than what was planned, or it would have been planned too.
    rows = [row if row.planned else view.no_better(row, best) for row in rows]
    knee = next(row for row in rows if row.seconds <= NEARLY * best.seconds)
    everyone = next((row for row in rows if row.devices.size == platform.k), None)
    by_node = [] if nodes is None else [view.of_nodes(one, nodes) for one in whole]
    return Advice(platform, tuple(rows), tuple(by_node), best, knee, everyone, confirmed.complete)


def _fewest(confirmed: Confirmed, k: int, every: float) -> Trial:
    """The fewest devices as fast as the best but for what nobody could measure, or as all are."""
    full = min((t.seconds for t in confirmed.trials if t.devices.size == k), default=every)
    full = min(full, every)
    enough = min(SAME * confirmed.best.seconds, max(full, confirmed.best.seconds))
    as_fast = [trial for trial in confirmed.trials if trial.seconds <= enough]
    return min(as_fast, key=lambda one: (one.devices.size, one.seconds))


def _sooner(row: Choice, seconds: float) -> Choice:
    """The row of a set that another plan is known for, if that is faster."""
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
