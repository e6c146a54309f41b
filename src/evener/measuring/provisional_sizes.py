"""The sizes that the models so far would give each device, around which more loads are measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evener.arrays import FloatArray
from evener.errors import EvenerError
from evener.measuring.adaptive import FEWEST_POINTS, TOLERANCE, AdaptivePlan
from evener.platforms.models.fitting import SpeedModel, fit_model
from evener.platforms.models.samples import Sample
from evener.sizing import solve_sizes
from evener.sizing.equal_finish import finish_times

N_TOTALS = 32  # total loads whose sizes count, where no total is given


class ProvisionalSizes:
    """The sizes of all devices by the models so far, for one total load or for many totals.

    It tells every plan which loads those sizes are, and when they have settled: when no size has
    changed by more than `tolerance` of the largest one, twice in a row.
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
            return  # a single device gets everything: there are no sizes to settle
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
            plan.settled = sure and self._stable >= 2 and len(known) >= FEWEST_POINTS

    def _solved(self, models: Sequence[SpeedModel]) -> FloatArray | None:
        """Return the sizes for every total, (totals, k); None where no total fits."""
        if self._total is None:
            return equal_finish_loads(models, self._low, self._high)
        try:
            return np.array([solve_sizes(models, self._total).sizes], dtype=np.float64)
        except EvenerError:  # more than the devices can take, by the models so far
            return None


def equal_finish_loads(models: Sequence[SpeedModel], low: int, high: int) -> FloatArray:
    """Return loads of k devices that finish together, for N_TOTALS totals, (N_TOTALS, k) [units].

    The totals rise by equal factors from k times `low` to k times `high`, or to what the devices
    can take; no device gets more than `high`. The same as `solve_sizes` finds, to 1e-5, but real
    numbers, and for all totals at once.
    """

    def done(times: FloatArray) -> FloatArray:
        return np.stack([np.minimum(m.max_load(times), high) for m in models], axis=1)

    last = max(float(m.time(min(high, m.capacity))) for m in models)
    most = float(done(np.array([last])).sum())
    totals = np.geomspace(min(len(models) * low, most), most, N_TOTALS)
    return done(finish_times(done, totals, np.full(N_TOTALS, last), little=np.zeros(N_TOTALS)))
