"""Sizes by constant speeds: the constant performance model (CPM) of [Cla14]_, 2.3.

A model that is not constant counts with its speed at an even share, as a benchmark of equal
blocks would measure it. Sizes are whole and optimal for these speeds, limits included.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.sizing.least_time import handed_back, least_time
from evener.sizing.problems import Problem, Solution
from evener.sizing.segments import Runs, joined

# Which whole loads are done by a given time, where every speed is one number.


class Rates:
    """The loads of k devices at constant speeds (k,) [units/s]; see `Segments`."""

    def __init__(self, problem: Problem, rates: FloatArray) -> None:
        self.problem, self._rates = problem, rates
        with np.errstate(over="ignore"):
            self._latest = self.times(problem.high)
        if not np.isfinite(self._latest).all():
            name = problem.name(int(np.argmin(np.isfinite(self._latest))))
            raise InputError(f"{name} takes longer than a number can hold")

    def times(self, sizes: IntArray) -> FloatArray:
        """(k,) seconds of whole sizes [s]."""
        return np.asarray(sizes / self._rates + self.problem.fixed * (sizes > 0))

    def bounds(self) -> tuple[float, float]:
        """Seconds before which hardly any sizes are done, and by which all are [s]."""
        usable = self.problem.high > 0
        early = self.problem.n / self._rates[usable].sum() * (1 - 1e-9) if usable.any() else 0.0
        return float(early), float(self._latest.max())

    def needed(self) -> float:
        """Seconds that a device takes in any case for the least it must do [s]."""
        return float(self.times(self.problem.low).max())

    def largest(self, seconds: float) -> IntArray:
        """(k,) the largest whole load each device does by then, or else its lower limit."""
        low, high, fixed = self.problem.low, self.problem.high, self.problem.fixed
        with np.errstate(over="ignore"):
            most = np.minimum(np.maximum(seconds - fixed, 0.0) * self._rates, high)
        load = np.minimum(most.astype(np.int64) + 1, high)
        for _ in range(2):  # at most two above, by rounding
            load = load - ((load / self._rates + fixed > seconds) & (load > 0))
        return np.maximum(load, low)

    def runs(self, seconds: float) -> Runs:
        """All whole loads done by then."""
        largest = self.largest(seconds)
        device = np.flatnonzero(self.times(largest) <= seconds)
        return joined(device, self.problem.low[device], largest[device])

    def next_time(self, seconds: float) -> float:
        """The least time above `seconds` that any whole load takes [s]; infinity if none does."""
        load = self.largest(seconds)
        load = np.where(self.times(load) <= seconds, load + 1, load)
        times = self.times(load)[load <= self.problem.high]
        # Beside a large fixed time the times of many loads are the same to the last digit.
        return float(times.min(where=times > seconds, initial=np.inf))


def solve_constant(problem: Problem) -> Solution:
    """Return whole sizes of least makespan if every speed were what it is at an even share."""
    if problem.is_constant:
        loads = Rates(problem, problem.rates)
        least = least_time(loads)
        return Solution(handed_back(loads, least), bound=max(least.seconds, loads.needed()))
    even = zip(problem.models, problem.even.tolist(), strict=True)
    loads = Rates(problem, np.array([model.speed(load) for model, load in even]))
    least = least_time(loads)
    sizes = handed_back(loads, least)
    if problem.is_flat:
        return Solution(sizes, bound=max(least.seconds, loads.needed()))
    return Solution(sizes, True, ("constant: each speed is taken at an even share",))
