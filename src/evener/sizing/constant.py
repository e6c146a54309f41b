"""constant: optimal whole sizes for constant speeds, the CPM of [Cla14]_, 2.3.

A speed that changes with load is taken at an even share of the load, as a benchmark with equal
blocks would measure it.
"""

from __future__ import annotations

import numpy as np

from evener.arrays import FloatArray, IntArray
from evener.errors import InputError
from evener.sizing.least_time import handed_back, least_time
from evener.sizing.problems import Problem, Solution
from evener.sizing.segments import Runs, joined


class Rates:
    """Which whole loads k devices of constant speeds (k,) [units/s] do by a time; a `Loads`."""

    def __init__(self, problem: Problem, rates: FloatArray) -> None:
        self.problem, self._rates = problem, rates
        with np.errstate(over="ignore"):
            self._latest = self.times(problem.high)
        if not np.isfinite(self._latest).all():
            name = problem.name(int(np.argmin(np.isfinite(self._latest))))
            raise InputError(f"{name} takes longer than a number can hold")

    def times(self, sizes: IntArray) -> FloatArray:
        """Return the seconds (k,) that whole sizes take."""
        return np.asarray(sizes / self._rates + self.problem.fixed * (sizes > 0))

    def bounds(self) -> tuple[float, float]:
        """Return a time [s] too short for n units, and one by which any sizes are done."""
        usable = self.problem.high > 0
        early = self.problem.n / self._rates[usable].sum() * (1 - 1e-9) if usable.any() else 0.0
        return float(early), float(self._latest.max())

    def needed(self) -> float:
        """Return the seconds that some device needs for its lower limit."""
        return float(self.times(self.problem.low).max())

    def largest(self, seconds: float) -> IntArray:
        """Return (k,) the largest whole load each device does by then, at least its lower limit."""
        low, high, fixed = self.problem.low, self.problem.high, self.problem.fixed
        with np.errstate(over="ignore"):
            most = np.minimum(np.maximum(seconds - fixed, 0.0) * self._rates, high)
        load = np.minimum(most.astype(np.int64) + 1, high)
        for _ in range(2):  # rounding leaves it at most two units too large
            load = load - ((load / self._rates + fixed > seconds) & (load > 0))
        return np.maximum(load, low)

    def runs(self, seconds: float) -> Runs:
        """Return all whole loads that are done by then."""
        largest = self.largest(seconds)
        device = np.flatnonzero(self.times(largest) <= seconds)
        return joined(device, self.problem.low[device], largest[device])

    def next_time(self, seconds: float) -> float:
        """Return the least time above `seconds` that any whole load takes; infinity if none."""
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
