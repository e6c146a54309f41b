"""Balancer: returns more even sizes while a program runs, from the times of its iterations.

    balancer = ev.Balancer(sizes=sizes)             # or Balancer(models, sizes), with speed models
    new = balancer.observe(times)                   # after each iteration
    if new is not None: ...                         # move data: these are the sizes now

Every observation refines a partial model of each device, and sizes are solved for these models.
This is the variant of DPA for running programs, [Cla14]_, 4.3. It adds answers to three questions
that the thesis leaves open. Noise: a small gain must be predicted over several iterations and must
exceed what their scatter explains. Oscillation: after a step that made the makespan worse, the next
step starts from the best sizes seen and is half as long; after FAILURES such steps the best sizes
are used. Change: if a device takes a different time for the same load, its speed has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evener.arrays import FloatArray, as_integers
from evener.errors import InputError
from evener.platforms.models.fitting import Constant, SpeedModel
from evener.platforms.models.samples import DeviceSpeeds
from evener.rebalancing.learning import PartialModel
from evener.running.spreading import moved_rows
from evener.sizing.problems import make_problem
from evener.sizing.rounding import between, raised
from evener.sizing.solving import solve_sizes

WINDOW = 9  # medians are taken over this many latest iterations
PATIENCE = 3  # a small gain, or a change of speed, must be seen in this many iterations
LARGE = 4.0  # x tolerance: a gain above this needs to be seen only once
SPREADS = 1.5  # standard deviations of noise added to its expected maximum over k devices
FAILURES = 4  # after this many steps in a row without a better makespan, use the best sizes
AGAIN = 2.0  # x tolerance: if the makespan changes by more, a settled search starts again


class MissedTime(NamedTuple):
    """A time that is not a positive finite number: number of the observation, device and value."""

    observation: int
    device: int
    value: float


class SizesMove(NamedTuple):
    """A change of sizes.

    observation: number of the observation after which it was made. units: units that move. before,
    predicted [s]: makespan before the change, and predicted makespan after it.
    """

    observation: int
    units: int
    before: float
    predicted: float


class Balancer:
    """Returns new sizes after an iteration if they are expected to be faster.

    models: a SpeedModel for each of k devices, or an empty sequence. sizes (k,), required: whole
    units that each device has now. tolerance: times count as even if they differ by less (relative
    difference), and gains below half of it are ignored. low, high: limits on sizes [units], one
    number or (k,); low is 1 by default, so that every device is measured in every iteration.

    Attributes: `sizes`, the current sizes; `gaps`, a list of the times that could not be used;
    `moves`, a list of the changes of sizes; `settled`, whether no better sizes are known.
    `speeds()` returns the speeds learnt, for a speeds file. The same calls give the same results.
    Raises InputError for sizes and models that do not match, and InfeasibleError if limits and
    capacities do not permit all units.
    """

    def __init__(
        self,
        models: Sequence[SpeedModel] = (),
        sizes: npt.ArrayLike | None = None,
        *,
        tolerance: float = 0.05,
        low: npt.ArrayLike | None = None,
        high: npt.ArrayLike | None = None,
        names: Sequence[str] = (),
    ) -> None:
        if sizes is None:
            raise InputError("a balancer needs the present sizes: Balancer(sizes=...)")
        self.sizes = as_integers(sizes, "sizes").copy()
        self.n, k = int(self.sizes.sum()), self.sizes.size
        if k == 0 or self.n < 1 or self.sizes.min() < 0:
            raise InputError("sizes must not be negative, and their sum must be above zero")
        if len(models) not in (0, k) or len(names) not in (0, k):
            raise InputError(
                f"there are {len(models)} models and {len(names)} names for {k} devices"
            )
        if not 0 < tolerance < 1:
            raise InputError(f"the tolerance must lie in (0, 1), not {tolerance}")
        self.tolerance = tolerance
        self.names = tuple(names) or tuple(f"dev{i}" for i in range(k))
        self.gaps: list[MissedTime] = []
        self.moves: list[SizesMove] = []
        self.observations = 0
        self.settled = False
        given: Sequence[SpeedModel | None] = models or [None] * k
        self._curves = [PartialModel(model, self.n) for model in given]
        least = (1 if k <= self.n else 0) if low is None else low
        rooms = [Constant(1.0, curve.capacity) for curve in self._curves]
        limits = make_problem(rooms, self.n, least, high, names=self.names)
        self._low, self._high = limits.low, limits.high
        self._recent: list[FloatArray] = []
        self._noise = 0.0  # relative standard deviation of a time
        self._best: tuple[npt.NDArray[np.int64], float] | None = None
        self._failures = 0
        self._stay = 0  # observations since the last move or change

    def observe(self, times: npt.ArrayLike) -> npt.NDArray[np.int64] | None:
        """Record the times (k,) [s] of one iteration; return new sizes (k,), or None for no change.

        Times of devices without units are ignored. A time that is NaN, infinite, zero or negative
        is added to `gaps` and otherwise ignored. Raises InputError if there are not k times.
        """
        try:
            given = np.asarray(times, np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"times must be numbers [s]: {error}") from error
        if given.shape != self.sizes.shape:
            raise InputError(f"there are {given.size} times for {self.sizes.size} devices")
        self.observations += 1
        self._stay += 1
        self._recent = [*self._recent[1 - WINDOW :], self._without_gaps(given)]
        self._forget_outdated()
        typical = self._typical()
        if typical is None:
            return None
        self._learn(typical)
        slowest = float(typical.max())
        self._judge(slowest)
        # A device without units takes no time, so these times do not count as even.
        even = slowest <= (1 + self.tolerance) * typical.min()
        if self.settled or even or not self._due():
            return None
        return self._step(slowest)

    def speeds(self) -> tuple[DeviceSpeeds, ...]:
        """Return the speeds observed, for each device with observations, for a speeds file."""
        return tuple(
            DeviceSpeeds(name, curve.samples(), capacity=curve.capacity)
            for name, curve in zip(self.names, self._curves, strict=True)
            if curve.samples()
        )

    def _without_gaps(self, given: FloatArray) -> FloatArray:
        wrong = (self.sizes > 0) & ~(np.isfinite(given) & (given > 0))
        for i in np.flatnonzero(wrong).tolist():
            self.gaps.append(MissedTime(self.observations, i, float(given[i])))
        return np.where(wrong, np.nan, np.where(self.sizes > 0, given, 0.0))

    def _forget_outdated(self) -> None:
        """Drop all but the last PATIENCE times if these all show that a device's speed changed."""
        old, new = np.array(self._recent[:-PATIENCE]), np.array(self._recent[-PATIENCE:])
        if len(old) < PATIENCE or not (np.isfinite(old).all() and np.isfinite(new).all()):
            return
        active = self.sizes > 0
        ratio = new[:, active] / np.median(old[:, active], axis=0)
        far = 1 + max(2 * self.tolerance, 3 * self._noise)
        if ((ratio > far).all(axis=0) | (ratio < 1 / far).all(axis=0)).any():
            self._recent, self._stay = self._recent[-PATIENCE:], PATIENCE

    def _due(self) -> bool:
        """Return whether to look for better sizes now: often after a change, rarely later."""
        return self._stay in (1, 2, PATIENCE, 5) or self._stay % WINDOW == 0

    def _typical(self) -> FloatArray | None:
        """Return the medians (k,) of recent times [s], or None if a device has no time yet.

        This also updates the noise, from iterations with the same sizes.
        """
        recent = np.array(self._recent)
        seen = np.isfinite(recent)
        if not seen.any(axis=0).all():
            return None
        typical = np.nanmedian(recent, axis=0)
        if len(recent) >= PATIENCE:
            active = self.sizes > 0
            off = np.abs(np.log(recent[:, active] / typical[active]))
            # Use the median, so that a change of one device's speed does not count as noise.
            off = off[off > 0]
            spread = 1.48 * float(np.median(off)) if off.size else 0.0
            self._noise = max(spread, 0.7 * self._noise)
        return typical

    def _learn(self, typical: FloatArray) -> None:
        count, changed = len(self._recent), False
        limit = max(2 * self.tolerance, 5 * self._noise / np.sqrt(count))
        for curve, load, seconds in zip(self._curves, self.sizes.tolist(), typical, strict=True):
            if load > 0:
                changed |= curve.learn(float(load), float(seconds), count, self._noise, limit)
        if changed:  # the best sizes were found for the previous speeds
            self._best, self._failures = None, 0

    def _judge(self, slowest: float) -> None:
        """Update the best sizes seen.

        Restarts the search if the makespan of these sizes has changed.
        """
        if self._best is not None and np.array_equal(self._best[0], self.sizes):
            changed = slowest / self._best[1]
            limit = 1 + AGAIN * self.tolerance + SPREADS * self._noise
            if self.settled and not 1 / limit <= changed <= limit:
                self.settled, self._failures, self._best = False, 0, (self.sizes, slowest)
            elif not self.settled:
                self._best = (self.sizes, slowest)
        elif self._best is None or slowest < self._best[1]:
            self._best, self._failures = (self.sizes, slowest), 0
        elif len(self._recent) == 1:  # this is the first iteration with these sizes
            self._failures += 1

    def _step(self, slowest: float) -> npt.NDArray[np.int64] | None:
        assert self._best is not None
        if self._failures >= FAILURES:
            self.settled = True
            best, seconds = self._best
            return None if np.array_equal(best, self.sizes) else self._moved(best, slowest, seconds)
        known = np.array([curve.known for curve in self._curves])
        some = raised(self.sizes, self._low)
        if not known.all() and not np.array_equal(some, self.sizes):
            # Give devices without units some, so that their speed is measured.
            return self._moved(some, slowest, slowest)
        models = [curve.model() if curve.known else Constant(1.0) for curve in self._curves]
        high = np.where(known, self._high, 0)  # a device of unknown speed gets nothing
        wanted = np.asarray(solve_sizes(models, self.n, low=self._low, high=high).sizes, np.int64)
        if self._failures:
            part = 0.5**self._failures
            wanted = np.asarray(
                between(self._best[0], wanted, part, self._low, self._high), np.int64
            )
        seconds = max(float(m.time(float(d))) for m, d in zip(models, wanted, strict=True))
        gain = 1 - seconds / slowest
        if np.array_equal(wanted, self.sizes) or not self._worth(gain):
            return None
        return self._moved(wanted, slowest, seconds)

    def _worth(self, gain: float) -> bool:
        """Return whether a predicted gain (relative) exceeds the noise.

        A large gain counts after one iteration, a smaller one after PATIENCE iterations.
        """
        n, k = len(self._recent), int((self.sizes > 0).sum())
        if gain > LARGE * max(self.tolerance, self._noise):
            return True
        if n < PATIENCE:
            return False
        expected = np.sqrt(2 * np.log(max(k, 2))) + SPREADS  # of the largest of k noisy times
        return bool(gain > max(self.tolerance / 2, 1.25 * self._noise / np.sqrt(n) * expected))

    def _moved(
        self, sizes: npt.NDArray[np.int64], before: float, predicted: float
    ) -> npt.NDArray[np.int64]:
        self.moves.append(
            SizesMove(self.observations, moved_rows(self.sizes, sizes), before, predicted)
        )
        self.sizes, self._recent, self._stay = sizes.copy(), [], 0
        return sizes.copy()
