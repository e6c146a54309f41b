"""The loads that the models so far would give each device: those on which measuring is spent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import FloatArray
from evener.errors import EvenerError
from evener.measuring.adaptive import FEWEST, TOLERANCE, AdaptivePlan
from evener.platforms.models.fitting import SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing import solve_sizes

TOTALS = 32  # amounts of work that are looked at where none is given
TIMES = 1000  # finish times among which theirs are looked for


class Answer:
    """The sizes of blocks by the models so far, for one total load or for many between the ends.

    Tells every plan which loads those sizes are, and when they have settled: twice in a row none
    has changed by more than `tolerance` of the largest.
    """

    def __init__(
        self,
        plans: Sequence[AdaptivePlan],
        low: int,
        high: int,
        total: int | None = None,
        tolerance: float = TOLERANCE,
        model: str = "piecewise",
    ) -> None:
        self._plans, self._tolerance, self._model = plans, tolerance, model
        self._low, self._high, self._total = low, high, total
        self._sizes: FloatArray | None = None
        self._stable = 0

    def update(self, samples: Sequence[Sequence[Sample]], capacities: Sequence[float]) -> None:
        """Solve for the sizes again. samples, capacities: of each device."""
        if any(len(own) < 3 for own in samples) or (self._total is None and len(samples) == 1):
            return  # one device alone gets everything: only its curve is of interest
        models = [
            fit_model(own, self._model, capacity)
            for own, capacity in zip(samples, capacities, strict=True)
        ]
        sizes = self._solved(models)
        if sizes is None:
            return
        before, self._sizes = self._sizes, sizes
        largest = sizes.max(axis=1, keepdims=True)
        same = before is not None and bool(
            (np.abs(sizes - before) <= self._tolerance * largest).all()
        )
        self._stable = self._stable + 1 if same else 0
        sure = all(
            plan.is_sure_of(size)
            for plan, own in zip(self._plans, sizes.T, strict=True)
            for size in own
            if size > 0
        )
        for plan, own, known in zip(self._plans, sizes.T, samples, strict=True):
            if self._total is None:
                plan.likely = np.sort(own)
            else:
                plan.wanted = [int(size) for size in own if size > 0]
            plan.settled = sure and self._stable >= 2 and len(known) >= FEWEST

    def _solved(self, models: Sequence[SpeedModel]) -> FloatArray | None:
        """Return the sizes for every total, (totals, k); None where no total fits."""
        if self._total is None:
            return finished_alike(models, self._low, self._high)
        try:
            return np.array([solve_sizes(models, self._total).sizes], dtype=np.float64)
        except EvenerError:  # more than fits: there is no answer yet
            return None


def finished_alike(models: Sequence[SpeedModel], low: int, high: int) -> FloatArray:
    """Return the loads of k devices that finish together, (TOTALS, k) [units].

    Their sums rise by equal factors, from k times `low` to k times `high` or what the devices can
    take; a device is given no more than `high`. To a fraction of a percent what `solve_sizes`
    finds, for many totals at once.
    """
    ends = [float(np.min(m.time(np.array([low, min(high, m.capacity)])))) for m in models]
    last = max(float(m.time(min(high, m.capacity))) for m in models)
    times = np.geomspace(min(ends) / len(models), last, TIMES)
    loads = np.stack([np.minimum(m.max_load(times), high) for m in models], axis=1)
    sums = loads.sum(axis=1)
    totals = np.geomspace(min(len(models) * low, sums[-1]), sums[-1], TOTALS)
    found: FloatArray = loads[np.minimum(np.searchsorted(sums, totals), TIMES - 1)]
    return found
